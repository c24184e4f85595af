#include "runtime/clock_look.hpp"

#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tyer::runtime {
namespace {

using namespace std::chrono_literals;
using what = clock_look::what;

class clock_look_test : public ::testing::Test {
 protected:
  clock_look::jumps after(lease::duration d) { return clock.look(now += d); }

  std::optional<clock_look::offsets> seen{{1000s, 5s}};
  clock_look clock{[this] { return seen; }};
  lease::time_point now{1000s};
};

TEST_F(clock_look_test, the_first_look_compares_with_nothing) { EXPECT_FALSE(after(1s)[1]); }

TEST_F(clock_look_test, a_clock_that_was_set) {
  after(1s);
  seen->day += 3600s;
  const auto ahead = after(1s)[1];
  ASSERT_TRUE(ahead);
  EXPECT_EQ(ahead->what, what::set_ahead);
  EXPECT_EQ(ahead->by, 3600s);
  EXPECT_FALSE(after(1s)[1]) << "told once";
  seen->day -= 2s;
  const auto back = after(1s)[1];
  ASSERT_TRUE(back);
  EXPECT_EQ(back->what, what::set_back);
  EXPECT_EQ(back->by, 2s);
}

TEST_F(clock_look_test, a_machine_that_was_suspended_and_whose_clock_was_set_then) {
  after(1s);
  seen->asleep += 60s;
  seen->day += 1s;
  const auto both = after(60s);
  ASSERT_TRUE(both[0] && both[1]);
  EXPECT_EQ(both[0]->what, what::suspended);
  EXPECT_EQ(both[0]->by, 60s);
  EXPECT_EQ(both[1]->what, what::set_ahead);
}

TEST_F(clock_look_test, less_than_a_second_and_what_could_not_be_read_is_nothing) {
  after(1s);
  seen->day += 999ms;
  EXPECT_FALSE(after(1s)[1]);
  seen.reset();
  EXPECT_FALSE(after(1s)[1]);
}

TEST_F(clock_look_test, at_most_once_in_a_second) {
  after(1s);
  seen->day += 5s;
  EXPECT_FALSE(after(999ms)[1]);
  EXPECT_TRUE(after(1ms)[1]);
}

TEST(clock_of_this_machine, stands_still) {
  const auto first = clock_look::of_this_machine(), second = clock_look::of_this_machine();
  if (!first || !second) GTEST_SKIP() << "put aside between two looks";
  EXPECT_LT(std::chrono::abs(second->day - first->day), 100ms);
  EXPECT_LT(std::chrono::abs(second->asleep - first->asleep), 100ms);
}

TEST(coordinator_reports, a_clock_that_was_set_back) {
  testing::bench b;
  clock_look::offsets seen;
  std::vector<event> heard;
  b.coordinator.report_to([&](event&& e) { heard.push_back(std::move(e)); }, {}, [&] { return std::optional{seen}; });
  b.coordinator.on_time(b.clock.now());
  seen.day -= 10s;
  b.clock.move(1s);
  b.coordinator.on_time(b.clock.now());
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard.front().kind, event_kind::clock_jumped);
  EXPECT_EQ(heard.front().lasted, 10s);
  EXPECT_EQ(heard.front().words, "this machine's clock was set back");
}

}  // namespace
}  // namespace tyer::runtime
