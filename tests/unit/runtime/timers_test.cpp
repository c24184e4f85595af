#include "runtime/timers.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tyer::runtime {
namespace {

using namespace std::chrono_literals;
using lease::time_point;

time_point at(lease::duration d) { return time_point{d}; }

TEST(timers, come_up_in_the_order_of_their_times) {
  timers<int> t;
  t.at(at(3s), 3);
  t.at(at(1s), 1);
  t.at(at(2s), 2);
  EXPECT_EQ(t.next(), at(1s));
  EXPECT_EQ(t.pop_due(at(0s)), std::nullopt);
  EXPECT_EQ(t.pop_due(at(2s)), 1);
  EXPECT_EQ(t.pop_due(at(2s)), 2);
  EXPECT_EQ(t.pop_due(at(2s)), std::nullopt);
  EXPECT_EQ(t.next(), at(3s));
}

TEST(timers, never_is_not_kept) {
  timers<int> t;
  t.at(time_point::max(), 1);
  EXPECT_EQ(t.size(), 0u);
  EXPECT_EQ(t.next(), time_point::max());
}

TEST(timers, stale_entries_are_swept_out_when_there_are_many) {
  timers<int> t;
  for (int n = 0; n < 2000; ++n) t.at(at(n * 1ms), n);
  const std::set<int> live{5, 1500};
  t.sweep([&](int n) { return live.contains(n); });
  EXPECT_EQ(t.size(), 2u);
  EXPECT_EQ(t.pop_due(at(10s)), 5);
  EXPECT_EQ(t.pop_due(at(10s)), 1500);
}

TEST(timers, few_entries_are_left_alone) {
  timers<int> t;
  for (int n = 0; n < 1000; ++n) t.at(at(n * 1ms), n);
  t.sweep([](int) { return false; });
  EXPECT_EQ(t.size(), 1000u);
}

// Sweeping must not cost a look at every entry for every entry that is added.
TEST(timers, entries_that_are_all_live_are_looked_at_a_bounded_number_of_times) {
  timers<int> t;
  std::size_t looks = 0;
  for (int n = 0; n < 100'000; ++n) {
    t.at(at(n * 1ms), n);
    t.sweep([&](int) {
      ++looks;
      return true;
    });
  }
  EXPECT_EQ(t.size(), 100'000u);
  EXPECT_LT(looks, 300'000u);
}

}  // namespace
}  // namespace tyer::runtime
