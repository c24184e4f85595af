// What is said where the URL is wrong and the server is not away, and what to correct then.
#pragma once

#include <string>
#include <string_view>

namespace cli {

struct mistake {
  std::string_view says, advice;  // no advice: the words end in one, behind a semicolon
  bool for_good;                  // it would say so again
  bool doctor_says_more = false;  // what answers there instead
};

// None: nullptr.
const mistake* mistake_in(std::string_view words);

// Whether it says one of these, and would say so again.
bool is_for_good(std::string_view words);

// Whether it says that the login is one that the server knows, and may not do this.
bool lacks_a_right(std::string_view words);

// What to do where it says that too few replicas have confirmed a grant; else empty.
std::string_view advice_on_replicas(std::string_view words);

}  // namespace cli
