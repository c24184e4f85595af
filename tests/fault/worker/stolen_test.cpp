#include "stolen.hpp"

#include <gtest/gtest.h>

namespace machine {
namespace {

using namespace std::chrono_literals;

TEST(stolen, is_the_eighth_number_of_each_processor) {
  EXPECT_EQ(stolen_in("cpu  9 9 9 9 9 9 9 99 0 0\n"
                      "cpu0 391970 37426 62102 200201 7393 0 3432 182092 0 0\n"
                      "cpu1 1 2 3 4 5 6 7 8 9 10\n"
                      "intr 1 2 3 4 5 6 7 8 9\n"),
            (stolen_ticks{182092, 8}));
  EXPECT_EQ(stolen_in("cpu0 1 2 3\n"), stolen_ticks{0});  // a kernel that does not say
  EXPECT_EQ(stolen_in(""), stolen_ticks{});
}

TEST(stolen, counts_the_processor_that_was_away_longest) {
  EXPECT_EQ(longest_stolen({10, 20}, {12, 29}, 100), 90ms);
  EXPECT_EQ(longest_stolen({10, 20}, {10, 20}, 100), 0ms);
  EXPECT_EQ(longest_stolen({10, 20}, {9}, 100), 0ms);  // one was taken away
}

}  // namespace
}  // namespace machine
