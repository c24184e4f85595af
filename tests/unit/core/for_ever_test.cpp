#include "core/for_ever.hpp"

#include <tyer/clock.hpp>

#include <gtest/gtest.h>

namespace tyer::core {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(for_ever, can_be_added_to_any_time_twice) {
  const auto end = lease_clock::now() + 2 * nanoseconds{for_ever};
  EXPECT_GT(end, lease_clock::now());
}

TEST(for_ever, cuts_what_is_longer_and_leaves_the_rest) {
  EXPECT_EQ(within_for_ever(milliseconds::max()), for_ever);
  EXPECT_EQ(within_for_ever(milliseconds::min()), -for_ever);
  EXPECT_EQ(within_for_ever(nanoseconds::max()), for_ever);
  EXPECT_EQ(within_for_ever(30s), 30s);
  EXPECT_EQ(within_for_ever(-1ms), -1ms);
  EXPECT_EQ(within_for_ever(1ns), 1ms);  // never shorter than what was said
  EXPECT_EQ(within_for_ever<nanoseconds>(5ns), 5ns);
}

}  // namespace
}  // namespace tyer::core
