#include "lease/local_queue.hpp"

#include "at.hpp"

#include <gtest/gtest.h>

#include <array>

namespace tyer::lease {
namespace {

const tenure fresh{at(0s), valid_until(at(0s), 10s), 10s};

TEST(local_queue, is_first_come_first_served) {
  local_queue q{16};
  std::array<waiting, 3> w;
  for (auto& x : w) q.join(x);
  EXPECT_EQ(q.front(), &w[0]);
  q.leave(w[1]);
  q.leave(w[0]);
  EXPECT_EQ(q.front(), &w[2]);
  q.leave(w[2]);
  EXPECT_TRUE(q.empty());
}

TEST(local_queue, hands_off_a_bounded_number_of_times_then_the_engine_has_its_turn) {
  local_queue q{3};
  waiting w;
  q.join(w);
  for (std::uint32_t n = 0; n < 3; ++n) EXPECT_TRUE(q.may_hand_off(fresh, n, at(0s)));
  EXPECT_FALSE(q.may_hand_off(fresh, 3, at(0s)));
}

TEST(local_queue, never_hands_off_more_than_a_token_can_count) {
  local_queue q{100000};
  waiting w;
  q.join(w);
  EXPECT_TRUE(q.may_hand_off(fresh, core::handoffs_max - 1, at(0s)));
  EXPECT_FALSE(q.may_hand_off(fresh, core::handoffs_max, at(0s)));
}

// A waiter that came later may be behind another client's grant, if the engine has lost its data since.
TEST(local_queue, hands_off_only_to_those_who_came_before_the_engine_last_confirmed_the_hold) {
  local_queue q{16};
  waiting w;
  w.since = at(1s);
  q.join(w);
  tenure held = fresh;
  EXPECT_FALSE(q.may_hand_off(held, 0, at(2s)));
  held.on_kept(at(1500ms), 10s);
  EXPECT_TRUE(q.may_hand_off(held, 0, at(2s)));
}

TEST(local_queue, hands_nothing_off_to_nobody_or_too_late_or_if_switched_off) {
  waiting w;
  local_queue q{16};
  EXPECT_FALSE(q.may_hand_off(fresh, 0, at(0s)));
  q.join(w);
  EXPECT_TRUE(q.may_hand_off(fresh, 0, at(6s)));
  EXPECT_FALSE(q.may_hand_off(fresh, 0, at(7s)));
  q.leave(w);
  local_queue off{0};
  off.join(w);
  EXPECT_FALSE(off.may_hand_off(fresh, 0, at(0s)));
}

TEST(local_queue, hands_off_only_to_who_came_before_the_last_confirmation) {
  local_queue q{16};
  waiting w;
  w.since = fresh.confirmed_at() + 1ns;
  q.join(w);
  EXPECT_FALSE(q.may_hand_off(fresh, 0, at(1s)));
  tenure renewed = fresh;
  renewed.on_kept(w.since, renewed.ttl());
  EXPECT_TRUE(q.may_hand_off(renewed, 0, at(1s)));
}

}  // namespace
}  // namespace tyer::lease
