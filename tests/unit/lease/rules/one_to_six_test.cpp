// Rules 1 to 6 of the lease (design.md, section 6), each as a test of the whole client on virtual time. See ../rules.md.
#include "engines/kit/resource.hpp"
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

// ---- 1. Every attempt has an id fixed before it is sent; a lost reply can be retried; nothing late is left behind.

TEST(rule_01_one_id_per_attempt, a_lost_reply_is_retried_with_the_same_id) {
  bench b;
  auto c = b.want();
  b.engine.acquires[0].fail(why::unknown);
  b.pass(20ms);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  EXPECT_EQ(b.engine.acquires[0].what.what.who, b.engine.acquires[1].what.what.who);
  b.engine.acquires[1].grant(9);
  EXPECT_TRUE(c->hold);
}

TEST(rule_01_one_id_per_attempt, it_is_already_mine_is_success_with_the_same_token) {
  kit::resource r;
  kit::notices out;
  seam::request ask;
  ask.what.who = counted_ids{}.next();
  ask.ttl = 10s;
  const kit::store_time now{1000s};
  const auto part = [](const kit::result<seam::answer>& a) {
    return std::get<seam::granted>(std::get<seam::answer>(a)).part;
  };
  EXPECT_EQ(part(r.acquire(ask, now, out)), part(r.acquire(ask, now + 1s, out)));
}

TEST(rule_01_one_id_per_attempt, a_request_says_until_when_it_may_be_executed_and_is_undone_after_that) {
  bench b;
  auto c = b.want();
  EXPECT_EQ(b.engine.acquires[0].what.not_after, b.bounds.request_timeout);
  b.engine.acquires[0].fail(why::unknown);
  b.coordinator.cancel(c.acquisition, errc::cancelled);
  b.engine.releases.back().answer(fate::gone);
  b.pass(2 * b.bounds.request_timeout);
  ASSERT_EQ(b.engine.releases.size(), 2u) << "once more, when nothing can follow";
  b.engine.releases[1].answer(fate::gone);
  EXPECT_TRUE(b.coordinator.drained());
}

// ---- 2. valid_until = time of sending the last confirmed request + ttl - margin; lost() before it.

TEST(rule_02_validity_counts_from_sending, of_the_acquire) {
  bench b;
  auto c = b.want();
  const auto sent = b.clock.now();
  b.stop_for(1s);  // the answer takes its time
  b.engine.acquires[0].grant(1);
  EXPECT_EQ(c->hold->valid_until(), sent + 9s - 450ms);
}

TEST(rule_02_validity_counts_from_sending, of_the_renewal) {
  bench b;
  auto c = b.held();
  b.pass(3s);
  const auto sent = b.engine.keeps.at(0).sent;
  b.stop_for(1s);
  b.engine.keeps[0].answer({fate::holding});
  EXPECT_EQ(c->hold->valid_until(), sent + 9s - 450ms);
}

TEST(rule_02_validity_counts_from_sending, after_a_pause_valid_is_false_at_once) {
  bench b;
  auto c = b.held();
  EXPECT_TRUE(c->hold->valid(b.clock.now()));
  b.stop_for(9s);
  EXPECT_FALSE(c->hold->valid(b.clock.now())) << "though nobody has noticed yet";
  EXPECT_EQ(c->hold->where(), phase::held);
}

TEST(rule_02_validity_counts_from_sending, the_alarm_is_armed_before_the_caller_is_told_of_the_hold) {
  bench b;
  auto c = b.want();
  std::size_t guarded_when_told = 0;
  c.acquisition->done = [&](tyer::failure, hold_ptr) { guarded_when_told = b.watcher.guarded.size(); };
  b.engine.acquires[0].grant(1);
  EXPECT_EQ(guarded_when_told, 1u);
}

// ---- 3. A hand-over grants only a short waiter-lease; the claim extends it; validity counts from sending the claim.

TEST(rule_03_a_hand_over_must_be_claimed, the_engine_gives_only_the_waiter_lease_until_then) {
  kit::resource r;
  kit::notices out;
  counted_ids ids;
  seam::request first, second;
  first.what.who = ids.next();
  second.what.who = ids.next();
  first.ttl = second.ttl = 10s;
  first.waiter_ttl = second.waiter_ttl = 1s;
  first.enqueue = second.enqueue = true;
  const kit::store_time now{1000s};
  r.acquire(first, now, out);
  r.acquire(second, now, out);
  r.release(first.what.who, true, now, out);
  ASSERT_EQ(r.holds().size(), 1u);
  EXPECT_EQ(r.holds()[0].expires, now + 1s);
  r.acquire(second, now + 500ms, out);  // the claim
  EXPECT_EQ(r.holds()[0].expires, now + 500ms + 10s);
}

TEST(rule_03_a_hand_over_must_be_claimed, a_push_makes_the_waiter_claim_and_validity_counts_from_that) {
  bench b;
  auto c = b.want();
  b.engine.acquires[0].queue(0, 5s);
  b.pass(100ms);
  b.coordinator.wake(b.engine.acquires[0].what.what.who);
  EXPECT_EQ(c->times, 0) << "a push grants nothing";
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  EXPECT_EQ(b.engine.acquires[0].what.what.who, b.engine.acquires[1].what.what.who);
  const auto sent = b.clock.now();
  b.stop_for(500ms);
  b.engine.acquires[1].grant(4);
  ASSERT_TRUE(c->hold);
  EXPECT_EQ(c->hold->valid_until(), sent + 9s - 450ms);
}

TEST(rule_03_a_hand_over_must_be_claimed, if_too_little_would_remain_it_is_given_back_and_asked_for_anew) {
  bench b;
  auto c = b.want();
  b.stop_for(7s);
  b.engine.acquires[0].grant(4);
  EXPECT_EQ(c->times, 0);
  ASSERT_EQ(b.engine.releases.size(), 1u);
  EXPECT_EQ(b.engine.releases[0].who, b.engine.acquires[0].what.what.who);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  EXPECT_NE(b.engine.acquires[0].what.what.who, b.engine.acquires[1].what.what.who);
}

// ---- 4. Renewal: batched, at a third; retried inside validity; lost only on proof or at the deadline; never re-creates.

TEST(rule_04_renewal, is_batched_and_sent_at_a_third_of_the_ttl) {
  bench b;
  std::vector<bench::caller> all;
  for (int n = 0; n < 10; ++n) {
    all.push_back(b.want(bench::make_lock("n" + std::to_string(n), 9s)));
    b.engine.acquires.back().grant(1);
  }
  b.pass(2500ms);
  EXPECT_TRUE(b.engine.keeps.empty());
  b.pass(500ms);
  ASSERT_EQ(b.engine.keeps.size(), 1u);
  EXPECT_EQ(b.engine.keeps[0].who.size(), 10u);
  EXPECT_EQ(b.engine.keeps[0].ttl, 9s);
}

TEST(rule_04_renewal, unknown_neither_extends_nor_kills_and_is_tried_again) {
  bench b;
  auto c = b.held();
  const auto until = c->hold->valid_until();
  b.pass(3s);
  b.engine.keeps[0].fail(why::unknown);
  EXPECT_EQ(c->hold->where(), phase::held);
  EXPECT_EQ(c->hold->valid_until(), until);
  b.pass(lease::renew_retry(9s));
  ASSERT_EQ(b.engine.keeps.size(), 2u);
  b.engine.keeps[1].answer({fate::holding});
  EXPECT_GT(c->hold->valid_until(), until);
}

TEST(rule_04_renewal, gone_is_proof) {
  bench b;
  auto c = b.held();
  b.pass(3s);
  b.engine.keeps[0].answer({fate::gone});
  EXPECT_EQ(c->hold->where(), phase::lost);
  EXPECT_EQ(b.watcher.told, std::vector<hold_ptr>{c->hold});
  b.pass(60s);
  EXPECT_EQ(b.engine.keeps.size(), 1u) << "and what is lost is not renewed";
}

TEST(rule_04_renewal, never_recreates) {
  kit::resource r;
  kit::notices out;
  const kit::store_time now{1000s};
  EXPECT_EQ(r.keep(counted_ids{}.next(), fate::holding, 10s, now, out), fate::gone);
  EXPECT_TRUE(r.holds().empty());
}

TEST(rule_04_renewal, belongs_to_the_engines_hold_and_reaches_whoever_has_it_now) {
  bench b;
  b.lock = bench::make_lock("order", 9s, 16);
  auto first = b.held();
  auto second = b.want();
  b.pass(3s);
  b.coordinator.give_back(first->hold, {});
  ASSERT_TRUE(second->hold);
  const auto until = second->hold->valid_until();
  b.engine.keeps[0].answer({fate::holding});
  EXPECT_GT(second->hold->valid_until(), until);
}

// ---- 5. Release has its own deadline; a cancelled acquire is compensated.

TEST(rule_05_release, is_retried_until_the_validity_ends_and_tells_its_outcome) {
  bench b;
  auto c = b.held();
  const auto end = c->hold->valid_until();
  std::optional<release_outcome> outcome;
  b.coordinator.give_back(c->hold, [&](tyer::failure, release_outcome o) { outcome = o; });
  for (int n = 0; n < 1000 && !outcome; ++n) {
    if (!b.engine.releases.back().answered()) b.engine.releases.back().fail(why::unknown);
    b.pass(100ms);
  }
  EXPECT_EQ(outcome, release_outcome::unknown);
  EXPECT_GE(b.clock.now(), end);
  EXPECT_GT(b.engine.releases.size(), 5u);
}

TEST(rule_05_release, of_what_expired_meanwhile_says_so) {
  bench b;
  auto c = b.held();
  std::optional<release_outcome> outcome;
  b.coordinator.give_back(c->hold, [&](tyer::failure, release_outcome o) { outcome = o; });
  b.engine.releases[0].answer(fate::gone);
  EXPECT_EQ(outcome, release_outcome::already_gone);
}

TEST(rule_05_release, a_timed_out_acquire_that_was_sent_is_compensated) {
  bench b;
  auto c = b.want(b.lock, true, 50ms);
  b.pass(50ms);
  EXPECT_EQ(c->times, 1);
  ASSERT_EQ(b.engine.releases.size(), 1u);
  b.engine.acquires[0].grant(3);  // the answer that nobody waits for
  EXPECT_EQ(c->times, 1);
  b.engine.releases[0].answer(fate::holding);
  EXPECT_TRUE(b.coordinator.drained());
}

TEST(rule_05_release, a_later_acquire_is_ordered_behind_it) {
  bench b;
  auto c = b.held();
  b.coordinator.give_back(c->hold, {});
  b.want();
  ASSERT_EQ(b.engine.releases.size(), 1u) << "sent first";
  ASSERT_EQ(b.engine.acquires.size(), 2u);
}

// ---- 6. Only durations and server time are compared on a server.

TEST(rule_06_only_durations_travel, a_request_is_the_same_whatever_the_clients_clock_shows) {
  const auto request_at = [](lease::duration ahead) {
    bench b;
    b.clock.move(ahead);
    b.want();
    return b.engine.acquires[0].what;
  };
  const auto now = request_at(0s), later = request_at(24h * 365 * 100);
  EXPECT_EQ(now.ttl, later.ttl);
  EXPECT_EQ(now.waiter_ttl, later.waiter_ttl);
  EXPECT_EQ(now.not_after, later.not_after);
  EXPECT_EQ(now.seen, later.seen);
}

}  // namespace
}  // namespace tyer::testing
