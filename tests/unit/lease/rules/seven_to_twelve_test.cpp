// Rules 7 to 12 of the lease (design.md, section 6), each as a test of the whole client on virtual time. See ../rules.md.
#include "core/name.hpp"
#include "engines/kit/resource.hpp"
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

// ---- 7. One contender per name and mode at the engine; the rest wait in the local queue.

TEST(rule_07_one_contender_per_name, a_thousand_callers_are_one_request) {
  bench b;
  std::vector<bench::caller> all;
  for (int n = 0; n < 1000; ++n) all.push_back(b.want());
  EXPECT_EQ(b.engine.acquires.size(), 1u);
  EXPECT_EQ(b.coordinator.tickets(), 1u);
}

TEST(rule_07_one_contender_per_name, they_are_served_in_order_by_hand_offs_with_growing_tokens) {
  bench b;
  b.lock = bench::make_lock("order", 9s, 2);
  auto first = b.held(50);
  auto second = b.want(), third = b.want(), fourth = b.want();
  b.coordinator.give_back(first->hold, {});
  ASSERT_TRUE(second->hold);
  EXPECT_EQ(second->hold->token(), core::make_token(50, 1));
  b.coordinator.give_back(second->hold, {});
  ASSERT_TRUE(third->hold);
  EXPECT_EQ(third->hold->token(), core::make_token(50, 2));
  EXPECT_TRUE(b.engine.releases.empty()) << "no round trip so far";
  b.coordinator.give_back(third->hold, {});
  EXPECT_FALSE(fourth->hold) << "now the engine's queue has its turn";
  EXPECT_EQ(b.engine.releases.size(), 1u);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  EXPECT_EQ(b.engine.acquires[1].what.seen, 50u);
  b.engine.acquires[1].grant(51);
  EXPECT_GT(fourth->hold->token(), third->hold->token());
}

TEST(rule_07_one_contender_per_name, what_is_nearly_over_is_not_handed_off) {
  bench b;
  b.lock = bench::make_lock("order", 9s, 16);
  auto first = b.held();
  auto second = b.want();
  b.stop_for(6s);
  b.coordinator.give_back(first->hold, {});
  EXPECT_FALSE(second->hold);
  EXPECT_EQ(b.engine.releases.size(), 1u);
}

// ---- 8. A dead waiter costs a waiter-lease, a lost notification a look-again interval; everything expires.

TEST(rule_08_no_waiter_is_forgotten, a_lost_push_costs_one_look_again) {
  bench b;
  auto c = b.want();
  b.engine.acquires[0].queue(0, 800ms);
  b.pass(799ms);
  EXPECT_EQ(b.engine.acquires.size(), 1u);
  b.pass(1ms);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  b.engine.acquires[1].grant(2);
  EXPECT_TRUE(c->hold);
}

TEST(rule_08_no_waiter_is_forgotten, keeping_its_place_also_finds_out_that_it_was_handed_over) {
  bench b;
  auto c = b.want();
  b.engine.acquires[0].queue(3, 3s);
  b.pass(1s);
  ASSERT_EQ(b.engine.keeps.size(), 1u);
  EXPECT_EQ(b.engine.keeps[0].as, fate::waiting);
  EXPECT_EQ(b.engine.keeps[0].ttl, b.lock->waiter_ttl);
  b.engine.keeps[0].answer({fate::holding});
  ASSERT_EQ(b.engine.acquires.size(), 2u) << "the claim";
  b.engine.acquires[1].grant(2);
  EXPECT_TRUE(c->hold);
}

TEST(rule_08_no_waiter_is_forgotten, a_place_that_lapsed_is_asked_for_again) {
  bench b;
  b.want();
  b.engine.acquires[0].queue(3, 3s);
  b.pass(1s);
  b.engine.keeps[0].answer({fate::gone});
  EXPECT_EQ(b.engine.acquires.size(), 2u);
}

TEST(rule_08_no_waiter_is_forgotten, a_dead_waiter_costs_one_waiter_lease) {
  kit::resource r;
  kit::notices out;
  counted_ids ids;
  const kit::store_time now{1000s};
  seam::request holder, dead, alive;
  for (auto* q : {&holder, &dead, &alive}) {
    q->what.who = ids.next();
    q->ttl = 10s;
    q->waiter_ttl = 1s;
    q->enqueue = true;
    r.acquire(*q, now, out);
  }
  r.release(holder.what.who, true, now + 500ms, out);  // goes to the dead one, which never claims
  r.keep(alive.what.who, fate::waiting, 1s, now + 900ms, out);
  out.clear();
  EXPECT_EQ(r.keep(alive.what.who, fate::waiting, 1s, now + 1500ms, out), fate::holding)
      << "whatever touches the name first reaps, then grants the head";
  ASSERT_FALSE(out.empty());
  EXPECT_EQ(out.back().who, alive.what.who);
}

TEST(rule_08_no_waiter_is_forgotten, the_head_is_told_when_the_holder_would_expire) {
  kit::resource r;
  kit::notices out;
  counted_ids ids;
  const kit::store_time now{1000s};
  seam::request holder, head;
  holder.what.who = ids.next();
  head.what.who = ids.next();
  holder.ttl = head.ttl = 10s;
  head.waiter_ttl = 1s;
  head.enqueue = true;
  r.acquire(holder, now, out);
  const auto a = std::get<seam::answer>(r.acquire(head, now + 4s, out));
  EXPECT_EQ(std::get<seam::queued>(a).look_again, 6s);
}

TEST(rule_08_no_waiter_is_forgotten, nothing_lives_for_ever) {
  kit::resource r;
  kit::notices out;
  seam::request ask;
  ask.what.who = counted_ids{}.next();
  ask.ttl = 10s;
  r.acquire(ask, kit::store_time{1000s}, out);
  EXPECT_LT(r.forgotten_at(), kit::store_time{1000s + 25h});
}

// ---- 9. Something else under the name is a conflict, not "busy".

TEST(rule_09_a_foreign_key_is_a_conflict, and_the_caller_is_told_at_once_in_the_engines_words) {
  bench b;
  auto c = b.want();
  b.engine.acquires[0].fail(why::name_conflict, "the key holds a list");
  EXPECT_EQ(c->times, 1);
  EXPECT_EQ(c->why.code, errc::name_conflict);
  EXPECT_EQ(c->why.words, "the key holds a list");
}

// ---- 10. After a reconnect every hold and waiter is kept at once.

TEST(rule_10_after_a_reconnect, every_hold_and_waiter_is_kept_at_once) {
  bench b;
  b.held();
  b.want(bench::make_lock("stock", 9s));
  b.engine.acquires.back().queue(0, 5s);
  b.pass(10ms);
  EXPECT_TRUE(b.engine.keeps.empty());
  b.coordinator.up({"another server", "1"});
  ASSERT_EQ(b.engine.keeps.size(), 2u);
  EXPECT_NE(b.engine.keeps[0].as, b.engine.keeps[1].as);
}

TEST(rule_10_after_a_reconnect, what_failed_meanwhile_is_tried_at_once) {
  bench b;
  auto held = b.held();
  b.want(bench::make_lock("stock", 9s));
  b.engine.acquires.back().fail(why::not_sent);
  b.coordinator.give_back(held->hold, {});
  b.engine.releases[0].fail(why::not_sent);
  const auto acquires = b.engine.acquires.size();
  b.coordinator.up({"s", "1"});
  EXPECT_EQ(b.engine.acquires.size(), acquires + 1);
  EXPECT_EQ(b.engine.releases.size(), 2u);
}

// ---- 11. Names: any bytes up to 1 KiB (how each engine escapes them is tested there).

TEST(rule_11_names, reach_the_engine_as_they_are) {
  bench b;
  const std::string hostile{"a\0{b}\r\n$-1\r\n'; DROP TABLE x", 28};
  ASSERT_FALSE(core::check_name(hostile));
  b.want(bench::make_lock(hostile, 9s));
  EXPECT_EQ(b.engine.acquires[0].name, hostile);
}

TEST(rule_11_names, that_differ_in_one_byte_are_different_locks) {
  bench b;
  for (const auto* name : {"a", "A", "a ", "a/", "a/b"}) b.want(bench::make_lock(name, 9s));
  EXPECT_EQ(b.engine.acquires.size(), 5u);
}

// ---- 12. Every limit has a number; over it, a clear error.

TEST(rule_12_every_limit_has_a_number, callers_that_wait_in_one_client) {
  bench b{{.acquisitions_max = 1}};
  b.want();
  auto c = b.want();
  EXPECT_EQ(c->why.code, errc::over_limit);
  EXPECT_FALSE(c->why.words.empty());
}

TEST(rule_12_every_limit_has_a_number, waiters_at_the_engine) {
  kit::resource r{{.waiters = 1}};
  kit::notices out;
  counted_ids ids;
  const kit::store_time now{1000s};
  kit::result<seam::answer> last = seam::answer{};
  for (int n = 0; n < 3; ++n) {
    seam::request ask;
    ask.what.who = ids.next();
    ask.ttl = 10s;
    ask.waiter_ttl = 1s;
    ask.enqueue = true;
    last = r.acquire(ask, now, out);
  }
  ASSERT_TRUE(std::holds_alternative<seam::failure>(last));
  EXPECT_EQ(std::get<seam::failure>(last).kind, why::over_limit);
}

TEST(rule_12_every_limit_has_a_number, requests_in_flight_and_ids_in_one_of_them) {
  bench b;
  EXPECT_LE(b.bounds.keeps_in_flight_max, 16u);
  lease::keeper k{b.engine.can().keep_batch};
  std::vector<lease::kept> many(1000);
  for (auto& e : many) k.add(e, fate::holding, 9s, lease::time_point{1000s}, 0);
  EXPECT_EQ(k.take(lease::time_point{1010s}).entries.size(), b.engine.can().keep_batch);
}

}  // namespace
}  // namespace tyer::testing
