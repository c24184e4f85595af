// What the coordinator counts of holds: how they end, whose they are, how they are renewed.
#include "unit/runtime/coordinator/counting_bench.hpp"

namespace tyer::testing {
namespace {

// ---- holds

TEST(coordinator_counting, a_hold_that_is_given_back) {
  counting_bench b;
  auto c = b.held();
  b.clock.move(250ms);
  b.give_back(c);
  EXPECT_EQ(b.counted().holds, 0u);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
  EXPECT_EQ(b.counted().hold_duration.sum, 250ms);
  EXPECT_EQ(b.all_lost(), 0u);
}

TEST(coordinator_counting, a_hold_that_is_not_renewed_in_time) {
  counting_bench b;
  auto c = b.held();
  b.pass_in_silence(9s);
  EXPECT_EQ(c->hold->where(), phase::lost);
  EXPECT_EQ(b.lost(loss_reason::deadline), 1u);
  EXPECT_EQ(b.counted().holds, 0u);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
  b.coordinator.give_back(c->hold, {});
  EXPECT_EQ(b.all_lost(), 1u) << "once";
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
}

// The watch has found it over, and its owner gives it back before the coordinator has seen that.
TEST(coordinator_counting, a_loss_that_the_coordinator_has_not_seen) {
  counting_bench b;
  auto c = b.held();
  b.stop_for(9s);
  ASSERT_TRUE(c->hold->end(phase::lost));
  b.coordinator.give_back(c->hold, {});
  EXPECT_EQ(b.lost(loss_reason::deadline), 1u);
  EXPECT_EQ(b.counted().holds, 0u);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
  b.pass(20s);
  EXPECT_EQ(b.all_lost(), 1u);
}

// It was over before the engine said so.
TEST(coordinator_counting, a_loss_is_what_its_owner_was_told_first) {
  counting_bench b;
  auto c = b.held();
  b.stop_for(9s);
  ASSERT_TRUE(c->hold->end(phase::lost));
  b.coordinator.gone(c->hold->who());
  EXPECT_EQ(b.lost(loss_reason::deadline), 1u);
  EXPECT_EQ(b.all_lost(), 1u);
}

TEST(coordinator_counting, a_hold_that_the_engine_has_no_more) {
  counting_bench b;
  auto by_event = b.held();
  b.coordinator.gone(by_event->hold->who());
  EXPECT_EQ(b.lost(loss_reason::gone), 1u);
  auto by_renewal = b.held();
  b.pass(3s);
  b.engine.keeps.back().answer({fate::gone});
  EXPECT_EQ(b.lost(loss_reason::gone), 2u);
  EXPECT_EQ(b.all_lost(), 2u);
  EXPECT_EQ(b.counted().holds, 0u);
}

TEST(coordinator_counting, a_hold_that_was_as_long_as_it_may_be) {
  counting_bench b;
  auto s = bench::make_lock("order", 9s);
  s->max_hold = 6s;
  auto c = b.want(s);
  b.engine.acquires[0].grant(1);
  for (int i = 0; i < 6; ++i) {
    b.pass(1s);
    b.answer_keeps();
  }
  EXPECT_EQ(c->hold->where(), phase::lost);
  EXPECT_EQ(b.lost(loss_reason::max_hold), 1u);
  EXPECT_EQ(b.all_lost(), 1u);
}

TEST(coordinator_counting, a_hold_that_lapses_with_a_lock_delay) {
  counting_bench b;
  auto s = bench::make_lock("order", 9s);
  s->lock_delay = 5s;
  auto c = b.want(s);
  b.engine.acquires[0].grant(1);
  b.pass_in_silence(9s);
  EXPECT_EQ(b.lost(loss_reason::deadline), 1u);
  EXPECT_EQ(b.counted().holds, 0u);
  b.pass(30s);
  EXPECT_EQ(b.all_lost(), 1u);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
}

TEST(coordinator_counting, a_lapsed_hold_that_its_owner_gives_back) {
  counting_bench b;
  auto s = bench::make_lock("order", 9s);
  s->lock_delay = 5s;
  auto c = b.want(s);
  b.engine.acquires[0].grant(1);
  b.coordinator.gone(c->hold->who());
  EXPECT_EQ(b.lost(loss_reason::gone), 1u);
  b.coordinator.give_back(c->hold, {});
  EXPECT_EQ(b.all_lost(), 1u);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
}

TEST(coordinator_counting, holds_of_a_client_that_is_closed) {
  counting_bench b;
  auto c = b.held();
  b.coordinator.close();
  EXPECT_EQ(b.lost(loss_reason::closed), 1u);
  EXPECT_EQ(b.counted().holds, 0u);
  b.coordinator.give_back(c->hold, {});
  EXPECT_EQ(b.all_lost(), 1u);
}

TEST(coordinator_counting, a_hold_that_rests_is_over_for_its_owner) {
  counting_bench b;
  auto s = bench::make_lock("order", 9s);
  s->min_hold = 5s;
  auto c = b.want(s);
  b.engine.acquires[0].grant(1);
  b.clock.move(1s);
  b.coordinator.give_back(c->hold, {});
  EXPECT_EQ(b.counted().holds, 0u);
  EXPECT_EQ(b.counted().hold_duration.sum, 1s);
  b.pass(5s);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
}

// ---- groups

TEST(coordinator_counting, a_group_is_of_the_lock_that_asked) {
  counting_bench b;
  auto& board = *b.coordinator.board();
  auto orders = bench::make_lock("order", 9s, 16), others = bench::make_lock("order", 9s, 16);
  orders->counted_in = &board.group_of("orders");
  others->counted_in = &board.group_of("others");
  auto first = b.want(orders);
  b.engine.acquires[0].grant(1);
  auto second = b.want(others);  // the same lane: what is asked of the engine is the same
  EXPECT_EQ(b.engine.acquires.size(), 1u);
  b.confirm();
  b.give_back(first);
  ASSERT_TRUE(second->hold);
  const auto all = b.stats().groups;
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].name, "orders");
  EXPECT_EQ(all[1].acquire_duration[acquire_end::granted].count(), 1u);
  EXPECT_EQ(all[1].hold_duration.count(), 1u);
  EXPECT_EQ(all[1].holds, 0u);
  EXPECT_EQ(all[2].acquire_duration[acquire_end::handed_off].count(), 1u);
  EXPECT_EQ(all[2].holds, 1u);
  EXPECT_EQ(b.all_ended(), 0u) << "of locks without a group";
}

// ---- renewals

TEST(coordinator_counting, a_renewal_in_time) {
  counting_bench b;
  auto c = b.held();
  b.pass(3s);
  ASSERT_EQ(b.engine.keeps.size(), 1u);
  b.clock.move(50ms);
  const auto left = c->hold->valid_until() - b.clock.now();
  b.engine.keeps[0].answer({fate::holding});
  const auto s = b.stats();
  EXPECT_EQ(s.renewal_lag.count(), 1u);
  EXPECT_EQ(s.renewal_lag.sum, 0s);
  EXPECT_EQ(s.renewal_remaining.count(), 1u);
  EXPECT_EQ(s.renewal_remaining.sum, left);
  EXPECT_EQ(s.remaining_min, left);
}

TEST(coordinator_counting, a_renewal_that_left_late) {
  counting_bench b;
  auto c = b.held();
  const auto due = b.coordinator.next_due();
  b.stop_for(due - b.clock.now() + 2s);
  b.coordinator.on_time(b.clock.now());
  EXPECT_EQ(b.stats().renewal_lag.sum, 2s);
  EXPECT_EQ(b.stats().remaining_min, std::nullopt) << "nothing was confirmed";
}

TEST(coordinator_counting, the_smallest_of_what_was_left) {
  counting_bench b;
  auto c = b.held();
  lease::duration least = lease::duration::max();
  for (const auto answer_after : {10ms, 900ms, 20ms}) {
    b.pass(b.coordinator.next_due() - b.clock.now());
    b.clock.move(answer_after);
    least = std::min(least, c->hold->valid_until() - b.clock.now());
    b.answer_keeps();
  }
  EXPECT_EQ(b.stats().renewal_remaining.count(), 3u);
  EXPECT_EQ(b.stats().remaining_min, least);
}

TEST(coordinator_counting, renewals_after_a_reconnect_are_not_late_and_places_in_a_queue_are_no_holds) {
  counting_bench b;
  auto c = b.held();
  auto other = b.want(bench::make_lock("other", 9s));
  b.engine.acquires.back().queue(0, 60s);
  b.clock.move(100ms);
  b.coordinator.up({});
  ASSERT_EQ(b.engine.keeps.size(), 2u);
  b.answer_keeps();
  EXPECT_EQ(b.stats().renewal_lag.count(), 1u);
  EXPECT_EQ(b.stats().renewal_lag.sum, 0s);
  EXPECT_EQ(b.stats().renewal_remaining.count(), 1u);
}

TEST(coordinator_counting, a_hold_that_an_engine_suspects_was_not_planned) {
  counting_bench b;
  auto c = b.held();
  b.coordinator.suspect(c->hold->who());
  b.coordinator.on_time(b.clock.now());
  ASSERT_EQ(b.engine.keeps.size(), 1u);
  EXPECT_EQ(b.stats().renewal_lag.count(), 0u);
}

}  // namespace
}  // namespace tyer::testing
