// What the coordinator counts of acquires.
#include "unit/runtime/coordinator/counting_bench.hpp"

namespace tyer::testing {
namespace {

TEST(coordinator_counting, a_grant_at_once) {
  counting_bench b;
  auto c = b.want();
  EXPECT_EQ(b.counted().waiters, 1u);
  EXPECT_EQ(b.counted().holds, 0u);
  b.clock.move(3ms);
  b.engine.acquires[0].grant(1);
  ASSERT_TRUE(c->hold);
  EXPECT_EQ(b.ended(acquire_end::granted), 1u);
  EXPECT_EQ(b.took(acquire_end::granted), 3ms);
  EXPECT_EQ(b.all_ended(), 1u);
  EXPECT_EQ(b.counted().waiters, 0u);
  EXPECT_EQ(b.counted().holds, 1u);
}

TEST(coordinator_counting, a_grant_after_others) {
  counting_bench b;
  auto c = b.want();
  b.engine.acquires[0].queue(0, 1s);
  b.clock.move(700ms);
  b.coordinator.wake(b.engine.acquires[0].what.what.who);
  b.engine.acquires[1].grant(1);
  ASSERT_TRUE(c->hold);
  EXPECT_EQ(b.ended(acquire_end::queued), 1u);
  EXPECT_EQ(b.took(acquire_end::queued), 700ms);
  EXPECT_EQ(b.all_ended(), 1u);
}

TEST(coordinator_counting, a_hand_off) {
  counting_bench b;
  b.lock = bench::make_lock("order", 9s, 16);
  auto first = b.held();
  auto second = b.want();
  b.confirm();
  b.clock.move(2s);
  b.give_back(first);
  ASSERT_TRUE(second->hold);
  EXPECT_EQ(b.ended(acquire_end::handed_off), 1u);
  EXPECT_EQ(b.took(acquire_end::handed_off), 2001ms);
  EXPECT_EQ(b.all_ended(), 2u);
  EXPECT_EQ(b.counted().holds, 1u);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
  EXPECT_EQ(b.counted().hold_duration.sum, 2001ms);
}

TEST(coordinator_counting, a_hand_off_by_a_caller_that_does_not_drive) {
  counting_bench b;
  b.lock = bench::make_lock("order", 9s, 16);
  auto first = b.held();
  auto second = b.want();
  second.acquisition->anywhere = true;
  b.confirm();
  ASSERT_TRUE(b.coordinator.hand_off(first->hold));
  ASSERT_TRUE(second->hold);
  EXPECT_EQ(b.ended(acquire_end::handed_off), 1u);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
  EXPECT_EQ(b.counted().holds, 1u);
  EXPECT_EQ(b.all_lost(), 0u);
}

TEST(coordinator_counting, one_attempt_at_what_others_have) {
  counting_bench b;
  auto c = b.try_once();
  b.clock.move(1ms);
  b.engine.acquires[0].busy(100ms);
  EXPECT_EQ(c->times, 1);
  EXPECT_EQ(b.ended(acquire_end::busy), 1u);
  EXPECT_EQ(b.took(acquire_end::busy), 1ms);
  EXPECT_EQ(b.all_ended(), 1u);
  EXPECT_EQ(b.counted().waiters, 0u);
}

TEST(coordinator_counting, one_attempt_at_what_a_caller_of_this_client_has) {
  counting_bench b;
  auto first = b.held();
  auto c = b.try_once();
  EXPECT_EQ(c->times, 1);
  EXPECT_EQ(b.ended(acquire_end::busy), 1u);
  EXPECT_EQ(b.took(acquire_end::busy), 0ms);
  EXPECT_EQ(b.counted().waiters, 0u);
}

TEST(coordinator_counting, a_limit_that_others_have_outlasted) {
  counting_bench b;
  auto c = b.want(b.lock, true, 5s);
  b.engine.acquires[0].queue(1, 60s);
  b.pass(5s);
  EXPECT_EQ(c->times, 1);
  EXPECT_EQ(b.ended(acquire_end::timed_out), 1u);
  EXPECT_EQ(b.took(acquire_end::timed_out), 5s);
  EXPECT_EQ(b.all_ended(), 1u);
}

TEST(coordinator_counting, a_caller_that_has_called_off) {
  counting_bench b;
  auto c = b.want();
  b.engine.acquires[0].queue(1, 60s);
  b.clock.move(40ms);
  b.coordinator.cancel(c.acquisition, errc::cancelled);
  EXPECT_EQ(b.ended(acquire_end::cancelled), 1u);
  EXPECT_EQ(b.took(acquire_end::cancelled), 40ms);
  EXPECT_EQ(b.all_ended(), 1u);
  EXPECT_EQ(b.counted().waiters, 0u);
}

TEST(coordinator_counting, an_engine_that_does_not_answer) {
  counting_bench b;
  auto c = b.try_once();
  b.pass(2s);
  EXPECT_EQ(c->why, errc::unavailable);
  EXPECT_EQ(b.ended(acquire_end::unavailable), 1u);
  EXPECT_EQ(b.took(acquire_end::unavailable), 2s);
  EXPECT_EQ(b.all_ended(), 1u);
}

TEST(coordinator_counting, an_engine_that_says_no) {
  counting_bench b;
  for (const auto kind : {why::refused, why::name_conflict, why::unsupported}) {
    auto c = b.want();
    b.engine.acquires.back().fail(kind, "no");
    EXPECT_EQ(c->times, 1);
  }
  EXPECT_EQ(b.ended(acquire_end::refused), 3u);
  EXPECT_EQ(b.all_ended(), 3u);
  EXPECT_EQ(b.stats().over_limit[limit_set_by::engine], 0u);
}

TEST(coordinator_counting, a_limit_of_the_engine) {
  counting_bench b;
  auto c = b.want();
  b.engine.acquires[0].fail(why::over_limit, "too many wait");
  EXPECT_EQ(c->why, errc::over_limit);
  EXPECT_EQ(b.ended(acquire_end::refused), 1u);
  EXPECT_EQ(b.stats().over_limit[limit_set_by::engine], 1u);
  EXPECT_EQ(b.stats().over_limit[limit_set_by::client], 0u);
}

TEST(coordinator_counting, a_limit_of_the_client) {
  counting_bench b{{.acquisitions_max = 1}};
  auto first = b.want(), second = b.want();
  EXPECT_EQ(second->why, errc::over_limit);
  EXPECT_EQ(b.ended(acquire_end::refused), 1u);
  EXPECT_EQ(b.stats().over_limit[limit_set_by::client], 1u);
  EXPECT_EQ(b.stats().over_limit[limit_set_by::engine], 0u);
  EXPECT_EQ(b.counted().waiters, 1u);
}

TEST(coordinator_counting, a_client_that_is_closed) {
  counting_bench b;
  auto c = b.want();
  b.clock.move(1s);
  b.coordinator.close();
  EXPECT_EQ(c->why, errc::closed);
  EXPECT_EQ(b.ended(acquire_end::closed), 1u);
  EXPECT_EQ(b.took(acquire_end::closed), 1s);
  EXPECT_EQ(b.counted().waiters, 0u);
  auto late = b.want();
  EXPECT_EQ(late->why, errc::closed);
  EXPECT_EQ(b.all_ended(), 1u) << "what is asked of a closed client is not counted";
}

}  // namespace
}  // namespace tyer::testing
