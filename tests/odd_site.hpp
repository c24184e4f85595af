// A call site in a file whose name has a control character and more than 512 bytes. All that follows in this file is there.
#pragma once

#include <source_location>

namespace tyer::test {

// clang-format off
#line 7 "two\nlines_and_a_name_that_a_generator_has_made_of_many_others_a_name_that_a_generator_has_made_of_many_others_a_name_that_a_generator_has_made_of_many_others_a_name_that_a_generator_has_made_of_many_others_a_name_that_a_generator_has_made_of_many_others_a_name_that_a_generator_has_made_of_many_others_a_name_that_a_generator_has_made_of_many_others_a_name_that_a_generator_has_made_of_many_others_a_name_that_a_generator_has_made_of_many_others_a_name_that_a_generator_has_made_of_many_others_a_name_that_a_generator_has_made_of_many_others.cc"
inline std::source_location odd_site() { return std::source_location::current(); }
}  // namespace tyer::test
