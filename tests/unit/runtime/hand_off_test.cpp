// What callers do by themselves at the coordinator, without the engine.
#include "core/token.hpp"
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

struct hand_off : ::testing::Test {
  hand_off() { b.lock = bench::make_lock("order", 9s, 2); }

  // Not given to the coordinator yet.
  bench::caller caller(bool anywhere = true) {
    bench::caller c{std::make_shared<runtime::acquisition>(), std::make_shared<told>()};
    c.acquisition->what = b.lock;
    c.acquisition->anywhere = anywhere;
    c.acquisition->done = [a = c.answer](tyer::failure f, hold_ptr h) {
      ++a->times;
      a->why = std::move(f);
      a->hold = std::move(h);
    };
    return c;
  }

  bench b;
};

TEST_F(hand_off, nobody_joins_where_nobody_stands) {
  const auto first = caller();
  EXPECT_FALSE(b.coordinator.join(first.acquisition));
  EXPECT_TRUE(b.engine.acquires.empty());
}

TEST_F(hand_off, whoever_joins_stands_behind_the_first_and_asks_nothing) {
  const auto first = b.want();
  const auto second = caller();
  EXPECT_TRUE(b.coordinator.join(second.acquisition));
  EXPECT_EQ(b.engine.acquires.size(), 1u);
  b.engine.acquires.back().grant(100);
  ASSERT_TRUE(b.coordinator.hand_off(first->hold));
  EXPECT_EQ(second->times, 1);
  EXPECT_EQ(second->hold->token(), core::make_token(100, 1));
  EXPECT_TRUE(b.engine.releases.empty());
  EXPECT_EQ(first->hold->where(), phase::released);
}

TEST_F(hand_off, tries_and_limits_take_the_long_way) {
  const auto first = b.want();
  const auto tries = caller(), limited = caller();
  tries.acquisition->waits = false;
  limited.acquisition->limit = b.clock.now() + 1s;
  EXPECT_FALSE(b.coordinator.join(tries.acquisition));
  EXPECT_FALSE(b.coordinator.join(limited.acquisition));
}

TEST_F(hand_off, not_to_one_whose_answer_runs_code_of_its_own) {
  const auto first = b.want();
  const auto second = caller(false);
  EXPECT_TRUE(b.coordinator.join(second.acquisition));
  b.engine.acquires.back().grant(100);
  EXPECT_FALSE(b.coordinator.hand_off(first->hold));
  EXPECT_EQ(first->hold->where(), phase::held) << "nothing was done";
  b.coordinator.give_back(first->hold, {});
  EXPECT_EQ(second->times, 1);
}

TEST_F(hand_off, not_more_often_than_allowed) {
  const auto first = b.want();
  const auto second = caller(), third = caller(), fourth = caller();
  for (const auto* c : {&second, &third, &fourth}) EXPECT_TRUE(b.coordinator.join(c->acquisition));
  b.engine.acquires.back().grant(100);
  EXPECT_TRUE(b.coordinator.hand_off(first->hold));
  EXPECT_TRUE(b.coordinator.hand_off(second->hold));
  EXPECT_FALSE(b.coordinator.hand_off(third->hold));
  EXPECT_EQ(fourth->times, 0);
}

TEST_F(hand_off, not_to_one_who_came_after_the_grant) {
  const auto first = b.held();
  b.clock.move(1ms);
  const auto late = caller();
  EXPECT_TRUE(b.coordinator.join(late.acquisition));
  EXPECT_FALSE(b.coordinator.hand_off(first->hold));
}

TEST_F(hand_off, not_of_a_lost_hold_nor_when_closed) {
  const auto first = b.want();
  const auto second = caller(), third = caller();
  EXPECT_TRUE(b.coordinator.join(second.acquisition));
  b.engine.acquires.back().grant(100);
  first->hold->end(phase::lost);
  EXPECT_FALSE(b.coordinator.hand_off(first->hold));
  EXPECT_EQ(second->times, 0);
  b.coordinator.close();
  EXPECT_FALSE(b.coordinator.join(third.acquisition));
}

}  // namespace
}  // namespace tyer::testing
