#include "lease/acquire.hpp"

#include "at.hpp"

#include <gtest/gtest.h>

namespace tyer::lease {
namespace {

using core::fate;
using core::why;
using verb = acquire::verb;
using state = acquire::state;

constexpr acquire::plan waits{.ttl = 10s, .waiter_ttl = 3s, .patience = 30s, .not_after = 2s, .enqueue = true};
constexpr acquire::plan tries{.ttl = 10s, .waiter_ttl = 3s, .patience = 2s, .not_after = 2s, .enqueue = false};

acquire asking(const acquire::plan& p = waits) {
  acquire a{p};
  EXPECT_EQ(a.start(at(0s)), verb::ask);
  return a;
}

acquire queued(bool head = true, duration look_again = 5s) {
  acquire a = asking();
  EXPECT_EQ(a.on_queued(at(1ms), head, look_again), verb::none);
  return a;
}

TEST(acquire, is_granted) {
  acquire a = asking();
  EXPECT_EQ(a.on_granted(at(5ms), at(1ms), 77, 10s), verb::granted);
  EXPECT_EQ(a.part(), 77u);
  EXPECT_EQ(a.valid_until(), valid_until(at(1ms), 10s));
  EXPECT_EQ(a.where(), state::over);
}

TEST(acquire, begins_anew_if_the_grant_came_too_late_to_be_of_use) {
  acquire a = asking();
  EXPECT_EQ(a.on_granted(at(7s), at(0s), 77, 10s), verb::anew);
  EXPECT_TRUE(a.touched()) << "it must be given back";
}

TEST(acquire, a_try_is_busy_and_leaves_nothing_behind) {
  acquire a = asking(tries);
  EXPECT_EQ(a.on_busy(at(1ms), 4s), verb::busy);
  EXPECT_FALSE(a.touched());
}

TEST(acquire, without_a_queue_at_the_engine_it_rests_and_asks_again) {
  acquire a = asking();
  EXPECT_EQ(a.on_busy(at(0s), 20ms), verb::none);
  EXPECT_EQ(a.on_time(at(19ms)), verb::none);
  EXPECT_EQ(a.on_time(at(20ms)), verb::ask);
}

TEST(acquire, a_try_that_others_wait_behind_queues_at_once_when_it_is_busy) {
  acquire a = asking(tries);
  a.enqueue_from_now(30s);
  EXPECT_EQ(a.on_busy(at(1ms), 4s), verb::ask) << "the answer was to a request that did not want to queue";
  EXPECT_TRUE(a.enqueues());
  EXPECT_EQ(a.on_failure(at(3s), why::not_sent), verb::none) << "and it bears more than a try";
}

TEST(acquire, a_queued_one_looks_again_when_it_was_told_to) {
  acquire a = queued(true, 5s);
  EXPECT_EQ(a.wake_at(), at(5001ms));
  EXPECT_EQ(a.on_time(at(5s)), verb::none);
  EXPECT_EQ(a.on_time(at(5001ms)), verb::ask);
}

TEST(acquire, looks_again_within_its_own_ttl_whatever_the_engine_says) {
  EXPECT_EQ(queued(true, 1000h).wake_at(), at(10001ms));
  EXPECT_EQ(queued(true, -5s).wake_at(), at(2ms));
}

TEST(acquire, a_push_makes_it_ask_and_grants_nothing) {
  acquire a = queued();
  EXPECT_EQ(a.on_wake(at(2s)), verb::ask);
  EXPECT_EQ(a.where(), state::asking);
  EXPECT_EQ(a.part(), 0u);
}

TEST(acquire, a_push_that_overtakes_the_answer_is_not_forgotten) {
  acquire a = asking();
  EXPECT_EQ(a.on_wake(at(1ms)), verb::none);
  EXPECT_EQ(a.on_queued(at(2ms), true, 5s), verb::ask);
}

TEST(acquire, a_keep_that_answers_holding_or_gone_makes_it_ask) {
  EXPECT_EQ(queued().on_kept(at(1s), fate::holding), verb::ask) << "handed over, and the push was lost";
  EXPECT_EQ(queued().on_kept(at(1s), fate::gone), verb::ask) << "the engine has forgotten it";
}

TEST(acquire, a_keep_that_answers_waiting_spares_only_the_one_that_is_not_the_head_its_next_look) {
  acquire head = queued(true, 5s);
  EXPECT_EQ(head.on_kept(at(1s), fate::waiting), verb::none);
  EXPECT_EQ(head.wake_at(), at(5001ms));
  acquire other = queued(false, 3s);
  EXPECT_EQ(other.on_kept(at(1s), fate::waiting), verb::none);
  EXPECT_EQ(other.wake_at(), at(4s));
}

TEST(acquire, a_waiter_whose_place_is_kept_for_ever_asks_again_within_a_bound) {
  acquire a = queued(false);
  const auto limit = at(0s) + ask_again_every(waits.ttl, waits.waiter_ttl);
  auto now = at(1s);
  for (; now < limit; now += 1s) {
    ASSERT_EQ(a.on_time(now), verb::none);
    ASSERT_EQ(a.on_kept(now, fate::waiting), verb::none);
    ASSERT_LE(a.wake_at(), limit);
  }
  EXPECT_EQ(a.on_time(limit), verb::ask);
  EXPECT_EQ(a.on_queued(limit + 1ms, false, 3s), verb::none);
  EXPECT_EQ(a.on_kept(limit + 1s, fate::waiting), verb::none);
  EXPECT_EQ(a.wake_at(), limit + 4s) << "and then not before the next time";
}

TEST(acquire, answers_to_nothing_that_was_asked_change_nothing) {
  acquire a = queued();
  EXPECT_EQ(a.on_granted(at(1s), at(1s), 1, 10s), verb::none);
  EXPECT_EQ(a.on_busy(at(1s), 1s), verb::none);
  EXPECT_EQ(a.on_queued(at(1s), true, 1s), verb::none);
  EXPECT_EQ(a.on_failure(at(1s), why::refused), verb::none);
  EXPECT_EQ(a.where(), state::queued);
}

TEST(acquire, backs_off_and_asks_again_after_a_failure) {
  acquire a = asking();
  EXPECT_EQ(a.on_failure(at(0s), why::unknown), verb::none);
  EXPECT_EQ(a.wake_at(), at(10ms));
  EXPECT_EQ(a.on_time(at(10ms)), verb::ask);
  EXPECT_EQ(a.on_failure(at(11ms), why::not_sent), verb::none);
  EXPECT_EQ(a.wake_at(), at(31ms));
  EXPECT_EQ(a.on_up(at(12ms)), verb::ask) << "and at once when the engine is back";
}

TEST(acquire, gives_up_when_failures_last_longer_than_its_patience) {
  acquire a = asking(tries);
  time_point now = at(0s);
  verb v = a.on_failure(now, why::not_sent);
  for (int tries_left = 100; v == verb::none && tries_left > 0; --tries_left) {
    now = a.wake_at();
    EXPECT_LE(now, at(2s));
    EXPECT_EQ(a.on_time(now), verb::ask);
    v = a.on_failure(now, why::not_sent);
  }
  EXPECT_EQ(v, verb::failed);
  EXPECT_EQ(now, at(2s));
  EXPECT_EQ(a.trouble(), why::not_sent);
}

TEST(acquire, an_answer_in_between_renews_its_patience) {
  acquire a = asking();
  EXPECT_EQ(a.on_failure(at(29s), why::unknown), verb::none);
  EXPECT_EQ(a.on_time(at(30s)), verb::ask);
  EXPECT_EQ(a.on_queued(at(30s), true, 1s), verb::none);
  EXPECT_EQ(a.on_time(at(31s)), verb::ask);
  EXPECT_EQ(a.on_failure(at(32s), why::unknown), verb::none);
}

TEST(acquire, fails_at_once_if_trying_again_cannot_help) {
  for (const why w : {why::refused, why::name_conflict, why::unsupported, why::over_limit}) {
    acquire a = asking();
    EXPECT_EQ(a.on_failure(at(1ms), w), verb::failed);
    EXPECT_EQ(a.trouble(), w);
  }
}

TEST(acquire, needs_no_compensation_if_nothing_was_sent) {
  acquire a = asking();
  a.on_failure(at(0s), why::not_sent);
  EXPECT_FALSE(a.touched());
  EXPECT_EQ(a.settled_at(), time_point::min());
}

TEST(acquire, what_was_sent_is_settled_after_twice_its_not_after) {
  acquire a = asking();
  EXPECT_EQ(a.settled_at(), at(4s)) << "under way";
  EXPECT_EQ(a.unsettled_until(), time_point::min());
  a.on_failure(at(2s), why::unknown);
  EXPECT_TRUE(a.touched());
  EXPECT_EQ(a.settled_at(), at(4s)) << "perhaps under way";
}

TEST(acquire, a_request_without_an_answer_stays_unsettled_even_if_its_repetition_was_granted) {
  acquire a = asking();
  a.on_failure(at(100ms), why::unknown);
  EXPECT_EQ(a.on_time(at(200ms)), verb::ask);
  EXPECT_EQ(a.settled_at(), at(4200ms));
  EXPECT_EQ(a.on_granted(at(201ms), at(200ms), 1, 10s), verb::granted);
  EXPECT_EQ(a.unsettled_until(), at(4s)) << "the first one may still lie in a socket";
}

}  // namespace
}  // namespace tyer::lease
