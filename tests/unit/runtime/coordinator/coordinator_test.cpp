#include "runtime/coordinator/coordinator.hpp"

#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

// ---- the way of an acquisition

TEST(coordinator, an_acquisition_becomes_a_hold_and_goes_back) {
  bench b;
  auto c = b.want();
  ASSERT_EQ(b.engine.acquires.size(), 1u);
  EXPECT_EQ(b.engine.acquires[0].name, "order");
  EXPECT_TRUE(b.engine.acquires[0].what.enqueue);
  EXPECT_EQ(c->times, 0);
  b.engine.acquires[0].grant(5);
  ASSERT_EQ(c->times, 1);
  ASSERT_TRUE(c->hold);
  EXPECT_EQ(c->hold->token(), core::make_token(5, 0));
  EXPECT_EQ(b.watcher.guarded.size(), 1u);
  std::optional<release_outcome> outcome;
  b.coordinator.give_back(c->hold, [&](tyer::failure, release_outcome o) { outcome = o; });
  ASSERT_EQ(b.engine.releases.size(), 1u);
  EXPECT_TRUE(b.engine.releases[0].clean);
  EXPECT_EQ(b.engine.releases[0].who, b.engine.acquires[0].what.what.who);
  b.engine.releases[0].answer(fate::holding);
  EXPECT_EQ(outcome, release_outcome::released);
  EXPECT_TRUE(b.coordinator.drained());
}

TEST(coordinator, giving_back_twice_is_gone_already) {
  bench b;
  auto c = b.held();
  b.coordinator.give_back(c->hold, {});
  std::optional<release_outcome> second;
  b.coordinator.give_back(c->hold, [&](tyer::failure, release_outcome o) { second = o; });
  EXPECT_EQ(second, release_outcome::already_gone);
  EXPECT_EQ(b.engine.releases.size(), 1u);
}

TEST(coordinator, a_try_is_one_attempt) {
  bench b;
  auto c = b.try_once();
  EXPECT_FALSE(b.engine.acquires[0].what.enqueue);
  b.engine.acquires[0].busy(3s);
  EXPECT_EQ(c->times, 1);
  EXPECT_FALSE(c->why);
  EXPECT_FALSE(c->hold);
  EXPECT_TRUE(b.coordinator.drained()) << "nothing to take back";
  EXPECT_TRUE(b.engine.releases.empty());
}

TEST(coordinator, a_try_fails_at_once_while_others_of_the_client_wait) {
  bench b;
  b.want();
  b.engine.acquires[0].queue(0, 1s);
  auto c = b.try_once();
  EXPECT_EQ(c->times, 1);
  EXPECT_EQ(b.engine.acquires.size(), 1u);
}

TEST(coordinator, only_the_first_of_a_lane_is_refused_the_next_asks_for_itself) {
  bench b;
  auto first = b.want(), second = b.want();
  b.engine.acquires[0].fail(why::refused, "NOPERM");
  EXPECT_EQ(first->why.code, errc::refused);
  EXPECT_EQ(first->why.words, "NOPERM");
  EXPECT_EQ(second->times, 0);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  EXPECT_NE(b.engine.acquires[0].what.what.who, b.engine.acquires[1].what.what.who);
}

TEST(coordinator, another_ttl_or_mode_is_another_lane) {
  bench b;
  b.want();
  b.want(bench::make_lock("order", 1s));
  auto shared = bench::make_lock("order", 9s);
  shared->how = seam::mode::shared;
  b.want(shared);
  EXPECT_EQ(b.engine.acquires.size(), 3u);
}

// ---- limits and cancels

TEST(coordinator, a_caller_that_runs_out_of_time_gets_an_empty_answer) {
  bench b;
  auto c = b.want(b.lock, true, 100ms);
  b.engine.acquires[0].queue(0, 5s);
  b.pass(99ms);
  EXPECT_EQ(c->times, 0);
  b.pass(1ms);
  EXPECT_EQ(c->times, 1);
  EXPECT_FALSE(c->why);
  EXPECT_FALSE(c->hold);
  EXPECT_EQ(b.engine.releases.size(), 1u) << "its place is given back";
}

TEST(coordinator, a_cancelled_caller_does_not_take_the_others_along) {
  bench b;
  auto first = b.want(), second = b.want();
  b.coordinator.cancel(first.acquisition, errc::cancelled);
  EXPECT_EQ(first->why.code, errc::cancelled);
  EXPECT_TRUE(b.engine.releases.empty()) << "the attempt stands for the second now";
  b.engine.acquires[0].grant(1);
  EXPECT_TRUE(second->hold);
}

TEST(coordinator, cancelling_what_has_been_answered_does_nothing) {
  bench b;
  auto c = b.held();
  b.coordinator.cancel(c.acquisition, errc::cancelled);
  EXPECT_EQ(c->times, 1);
  EXPECT_TRUE(c->hold);
}

// Went wrong: the attempt stayed a try, and the caller that had joined behind was told "busy".
TEST(coordinator, a_waiter_behind_a_cancelled_try_was_told_busy) {
  bench b;
  auto tries = b.try_once();
  auto waits = b.want();
  b.coordinator.cancel(tries.acquisition, errc::cancelled);
  b.engine.acquires[0].busy(3s);
  EXPECT_EQ(waits->times, 0);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  EXPECT_TRUE(b.engine.acquires[1].what.enqueue);
  b.engine.acquires[1].grant(1);
  EXPECT_TRUE(waits->hold);
}

TEST(coordinator, has_a_limit_of_waiting_callers) {
  bench b{{.acquisitions_max = 2}};
  b.want();
  b.want();
  auto third = b.want();
  EXPECT_EQ(third->why.code, errc::over_limit);
}

TEST(coordinator, a_blocking_caller_waits_through_an_outage_then_it_is_told) {
  bench b;
  auto c = b.want();
  for (int n = 0; n < 1000 && c->times == 0; ++n) {
    auto& last = b.engine.acquires.back();
    if (!last.answered()) last.fail(why::not_sent, "connection refused");
    b.pass(100ms);
  }
  EXPECT_EQ(c->why.code, errc::unavailable);
  EXPECT_EQ(c->why.words, "connection refused");
  EXPECT_GE(b.clock.now().time_since_epoch(), 1030s);
  EXPECT_LE(b.clock.now().time_since_epoch(), 1031s);
}

// ---- loss

TEST(coordinator, proof_of_loss_is_told_at_once_and_the_next_caller_goes_on) {
  bench b;
  auto c = b.held();
  auto next = b.want();
  b.coordinator.gone(b.engine.acquires[0].what.what.who);
  EXPECT_EQ(c->hold->where(), phase::lost);
  EXPECT_EQ(b.watcher.told.size(), 1u);
  EXPECT_TRUE(b.engine.releases.empty()) << "there is nothing to give back";
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  b.engine.acquires[1].grant(101);
  EXPECT_TRUE(next->hold);
  b.coordinator.give_back(c->hold, {});
  EXPECT_TRUE(b.engine.releases.empty());
}

TEST(coordinator, at_the_deadline_the_hold_is_lost_and_given_back_when_its_window_is_over) {
  bench b;
  auto c = b.held();
  const auto end = c->hold->valid_until();
  b.pass(3s);
  ASSERT_EQ(b.engine.keeps.size(), 1u);
  b.pass(2s);
  b.engine.keeps[0].fail(why::unknown);
  b.pass(end - b.clock.now() - 1ms);
  EXPECT_EQ(c->hold->where(), phase::held) << "the thread of the alarms tells it in time; here it is only noticed";
  if (!b.engine.keeps.back().answered()) b.engine.keeps.back().fail(why::unknown);
  EXPECT_TRUE(b.engine.releases.empty()) << "not while the window lasts";
  b.pass(2s);
  EXPECT_EQ(c->hold->where(), phase::lost);
  ASSERT_EQ(b.engine.releases.size(), 1u);
  EXPECT_GE(b.engine.releases[0].sent, end);
  EXPECT_FALSE(b.engine.releases[0].clean);
}

// Went wrong: the alarm rang while a renewal was under way; its answer extended what the owner had been told was lost,
// and nobody else got the lock for as long as the owner kept the object.
TEST(coordinator, a_hold_that_was_told_lost_was_renewed_for_ever) {
  bench b;
  auto c = b.held();
  b.pass(3s);
  ASSERT_EQ(b.engine.keeps.size(), 1u);
  b.stop_for(5s + 200ms);
  ASSERT_TRUE(c->hold->end(phase::lost));  // the thread of the alarms was first
  b.engine.keeps[0].answer({fate::holding});
  b.pass(20s);
  EXPECT_EQ(b.engine.keeps.size(), 1u);
  ASSERT_FALSE(b.engine.releases.empty());
  b.engine.releases[0].answer(fate::holding);
  EXPECT_TRUE(b.coordinator.drained());
}

// Went wrong: after a restart from an old copy the engine had the holder in its queue again, and nobody took it out.
TEST(coordinator, a_holder_that_became_a_waiter_again_left_its_place_behind) {
  bench b;
  auto c = b.held();
  b.pass(3s);
  b.engine.keeps[0].answer({fate::waiting});
  EXPECT_EQ(c->hold->where(), phase::lost);
  ASSERT_EQ(b.engine.releases.size(), 1u);
  EXPECT_EQ(b.engine.releases[0].who, b.engine.acquires[0].what.what.who);
}

// ---- what is left behind

TEST(coordinator, a_cancelled_attempt_is_taken_back_until_no_late_request_can_follow) {
  bench b;
  auto c = b.want();
  b.coordinator.cancel(c.acquisition, errc::cancelled);
  ASSERT_EQ(b.engine.releases.size(), 1u);
  b.engine.releases[0].answer(fate::gone);
  EXPECT_FALSE(b.coordinator.drained());
  b.engine.acquires[0].fail(why::unknown);
  b.pass(5s);
  ASSERT_EQ(b.engine.releases.size(), 2u);
  EXPECT_GE(b.engine.releases[1].sent, b.engine.acquires[0].sent + 2 * b.bounds.request_timeout);
  b.engine.releases[1].answer(fate::holding);
  EXPECT_TRUE(b.coordinator.drained());
}

TEST(coordinator, a_cancelled_attempt_that_never_left_needs_nothing) {
  bench b;
  auto c = b.want();
  b.engine.acquires[0].fail(why::not_sent);
  b.coordinator.cancel(c.acquisition, errc::cancelled);
  EXPECT_TRUE(b.engine.releases.empty());
  EXPECT_TRUE(b.coordinator.drained());
}

// Went wrong: a first request without an answer, its repetition granted, the hold given back at once; then the server
// read the first request from an old socket and granted the lock to nobody, for a whole ttl.
TEST(coordinator, a_late_first_request_took_the_lock_after_its_repetition_was_released) {
  bench b;
  auto c = b.want();
  b.engine.acquires[0].fail(why::unknown);
  b.pass(10ms);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  b.engine.acquires[1].grant(1);
  std::optional<release_outcome> outcome;
  b.coordinator.give_back(c->hold, [&](tyer::failure, release_outcome o) { outcome = o; });
  b.engine.releases[0].answer(fate::holding);
  EXPECT_EQ(outcome, release_outcome::released) << "the owner need not wait for the repetition";
  b.pass(5s);
  ASSERT_EQ(b.engine.releases.size(), 2u);
  EXPECT_GE(b.engine.releases[1].sent, b.engine.acquires[0].sent + 2 * b.bounds.request_timeout);
  b.engine.releases[1].answer(fate::holding);
  EXPECT_TRUE(b.coordinator.drained());
}

TEST(coordinator, a_late_first_request_of_a_hold_lost_by_proof_is_taken_back_too) {
  bench b;
  b.want();
  b.engine.acquires[0].fail(why::unknown);
  b.pass(10ms);
  b.engine.acquires[1].grant(1);
  b.coordinator.gone(b.engine.acquires[0].what.what.who);
  EXPECT_TRUE(b.engine.releases.empty());
  b.pass(5s);
  ASSERT_EQ(b.engine.releases.size(), 1u);
  b.engine.releases[0].answer(fate::gone);
  EXPECT_TRUE(b.coordinator.drained());
}

// Went wrong: the answer to the second request was taken for the end of the first one as well.
TEST(coordinator, an_answer_to_the_second_request_settled_the_first) {
  bench b;
  auto c = b.want();
  b.engine.acquires[0].fail(why::unknown);
  b.pass(10ms);
  b.coordinator.cancel(c.acquisition, errc::cancelled);
  b.engine.releases[0].answer(fate::gone);
  b.engine.acquires[1].fail(why::not_sent);
  EXPECT_FALSE(b.coordinator.drained()) << "the first one may still be executed";
  b.pass(5s);
  ASSERT_EQ(b.engine.releases.size(), 2u);
  EXPECT_GE(b.engine.releases[1].sent, b.engine.acquires[0].sent + 2 * b.bounds.request_timeout);
  b.engine.releases[1].answer(fate::gone);
  EXPECT_TRUE(b.coordinator.drained());
}

// ---- callbacks that call back, closing

// Went wrong: the one who released cancelled the next in line, and the hold was handed to nobody.
TEST(coordinator, whoever_is_told_of_a_release_may_cancel_the_next_in_line) {
  bench b;
  b.lock = bench::make_lock("order", 9s, 16);
  auto first = b.held();
  auto second = b.want();
  b.coordinator.give_back(
      first->hold, [&](tyer::failure, release_outcome) { b.coordinator.cancel(second.acquisition, errc::cancelled); });
  EXPECT_EQ(second->times, 1);
  EXPECT_TRUE(second->hold);
}

TEST(coordinator, an_answered_caller_may_want_again_at_once) {
  bench b;
  auto c = b.try_once();
  std::shared_ptr<bench::caller> again;
  auto inner = std::exchange(c.acquisition->done,
                             [&](tyer::failure, hold_ptr) { again = std::make_shared<bench::caller>(b.want()); });
  b.engine.acquires[0].busy(1s);
  ASSERT_TRUE(again);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  b.engine.acquires[1].grant(1);
  EXPECT_TRUE((*again)->hold);
}

TEST(coordinator, closing_ends_every_acquisition_and_loses_every_hold_and_gives_everything_back) {
  bench b;
  auto held = b.held();
  auto local = b.want();
  auto other = b.want(bench::make_lock("stock", 9s));
  b.engine.acquires.back().queue(0, 5s);
  b.coordinator.close();
  EXPECT_EQ(held->hold->where(), phase::lost);
  EXPECT_EQ(local->why.code, errc::closed);
  EXPECT_EQ(other->why.code, errc::closed);
  ASSERT_EQ(b.engine.releases.size(), 2u);
  for (auto& r : b.engine.releases) r.answer(fate::holding);
  EXPECT_TRUE(b.coordinator.drained());
  EXPECT_EQ(b.want()->why.code, errc::closed);
}

// Went wrong: a permission that is missing inside a script was told as an outage, and only after all of the caller's patience.
TEST(coordinator, what_was_refused_half_way_was_told_as_an_outage) {
  bench b;
  auto waits = b.want(), next = b.want();
  b.engine.acquires[0].refuse_half_way();
  EXPECT_EQ(waits->why.code, errc::refused);
  EXPECT_EQ(waits->why.words, "may not");
  ASSERT_EQ(b.engine.releases.size(), 1u) << "what it may have left is taken back";
  EXPECT_EQ(b.engine.releases[0].who, b.engine.acquires[0].what.what.who);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  b.engine.acquires[1].grant(1);
  ASSERT_TRUE(next->hold);

  tyer::failure why_not;
  b.coordinator.give_back(next->hold, [&](tyer::failure f, release_outcome) { why_not = std::move(f); });
  b.engine.releases.back().refuse_half_way();
  EXPECT_EQ(why_not.code, errc::refused) << "at once";
}

// Went wrong: an acquisition holds itself while the coordinator has it, and a coordinator that ended with acquisitions in it left them behind.
TEST(coordinator, an_acquisition_that_was_never_answered_outlived_its_coordinator) {
  std::weak_ptr<runtime::acquisition> last;
  {
    bench b;
    last = b.want().acquisition;
    EXPECT_FALSE(last.expired());
  }
  EXPECT_TRUE(last.expired());
}

TEST(coordinator, keeps_are_bounded_in_flight) {
  bench b{{.keeps_in_flight_max = 2}};
  std::vector<bench::caller> all;
  b.engine.keep_batch = 1;
  runtime::coordinator d{b.engine, b.clock, b.ids, b.watcher, b.bounds};  // reads the batch size when it is made
  for (int n = 0; n < 5; ++n) {
    auto w = std::make_shared<runtime::acquisition>();
    w->what = bench::make_lock("n" + std::to_string(n), 9s);
    w->done = [](tyer::failure, hold_ptr) {};
    d.want(w);
    b.engine.acquires.back().grant(1);
  }
  b.clock.move(3s);
  d.on_time(b.clock.now());
  EXPECT_EQ(b.engine.keeps.size(), 2u);
  EXPECT_EQ(d.next_due(), lease::time_point::max()) << "nothing can be done until one is answered";
  b.engine.keeps[0].answer({fate::holding});
  EXPECT_EQ(b.engine.keeps.size(), 3u);
}

}  // namespace
}  // namespace tyer::testing
