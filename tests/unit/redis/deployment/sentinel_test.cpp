// redis+sentinel:// when the master changes, and when sentinels do not behave. Each test has a deployment of its own.
#include "unit/redis/engine_client.hpp"
#include "unit/redis/own_server.hpp"
#include "unit/redis/raw_redis.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;
using tyer::engine::fate;
using tyer::engine::why;

constexpr auto failover_limit = 30s;  // only for tests that fail

// With every write at both replicas before it counts, so that a failover loses nothing.
std::string safe(const own_server& s) { return s.uri() + "?replicas=2"; }

// A hold that lives through any failover.
const tyer::engine::granted* hold(engine_client& c, const tyer::core::id& who,
                                  tyer::engine::outcome<tyer::engine::answer>& o) {
  auto r = engine_client::request(who, "n");
  r.ttl = 120s;
  o = c.acquire(r);
  return granted(o);
}

// Asked until enough replicas have it: those of a new master have to find it first.
const tyer::engine::granted* hold_on(engine_client& c, const tyer::core::id& who,
                                     tyer::engine::outcome<tyer::engine::answer>& o) {
  c.until([&] { return hold(c, who, o) != nullptr || why_not(o) == why::refused; }, failover_limit);
  return granted(o);
}

TEST(sentinel, a_hold_and_a_waiter_go_on_after_a_planned_failover) {
  own_server servers{patient_sentinels};
  engine_client a{safe(servers)}, b{servers.uri()};
  ASSERT_TRUE(a.ready() && b.ready());
  const auto first = a.facts.id;
  const auto holder = a.ids.next(), waiter = b.ids.next();
  tyer::engine::outcome<tyer::engine::answer> before, again;
  ASSERT_NE(hold(a, holder, before), nullptr);
  ASSERT_NE(queued(b.acquire(waiter, "n")), nullptr);
  const int ups = a.ups;
  servers.failover();
  ASSERT_TRUE(a.until([&] { return a.ups > ups && a.is_up; }, failover_limit));
  EXPECT_NE(a.facts.id, first) << "another server";
  ASSERT_NE(hold_on(a, holder, again), nullptr);
  EXPECT_EQ(granted(again)->part, granted(before)->part) << "the same hold";
  ASSERT_TRUE(b.until([&] { return b.is_up && b.facts.id == a.facts.id; }, failover_limit));
  EXPECT_NE(queued(b.acquire(waiter, "n")), nullptr);
  a.release(holder, "n");
  EXPECT_TRUE(b.until([&] { return !b.wakes.empty(); })) << "woken by the new master";
}

TEST(sentinel, a_killed_master_is_replaced) {
  own_server servers{patient_sentinels};
  engine_client a{safe(servers)};
  ASSERT_TRUE(a.ready());
  const auto who = a.ids.next();
  tyer::engine::outcome<tyer::engine::answer> before, after;
  ASSERT_NE(hold(a, who, before), nullptr);
  const int ups = a.ups;
  const auto victim = servers.kill("master");
  ASSERT_TRUE(a.until([&] { return !a.is_up; }));
  ASSERT_TRUE(a.until([&] { return a.ups > ups && a.is_up; }, failover_limit));
  servers.wait();           // a replica that still follows it would take over that it has nothing
  servers.restart(victim);  // it comes back as a replica
  servers.wait();
  ASSERT_NE(hold_on(a, who, after), nullptr);
  EXPECT_EQ(granted(after)->part, granted(before)->part) << "the same hold";
}

TEST(sentinel, a_master_that_hangs_is_replaced) {
  own_server servers{patient_sentinels};
  engine_client a{servers.uri()};
  ASSERT_TRUE(a.ready());
  const auto first = a.facts.id;
  const auto victim = servers.pause("master");
  ASSERT_TRUE(a.until([&] { return a.is_up && a.facts.id != first; }, failover_limit));
  EXPECT_NE(granted(a.acquire(a.ids.next(), "n")), nullptr);
  servers.resume(victim);
  servers.wait();
  const int downs = a.downs;
  EXPECT_NE(granted(a.acquire(a.ids.next(), "m")), nullptr);
  EXPECT_EQ(a.downs, downs) << "the old one is not gone back to\n" << a.logged;
}

TEST(sentinel, one_that_slept_through_a_failover_does_not_lead_back) {
  own_server servers{patient_sentinels};
  engine_client a{servers.uri()};
  ASSERT_TRUE(a.ready());
  const auto sleeper = servers.pause("sentinel-0");
  const auto first = a.facts.id;
  servers.failover();
  ASSERT_TRUE(a.until([&] { return a.is_up && a.facts.id != first; }, failover_limit));
  const int ups = a.ups;
  const auto second = a.facts.id;
  servers.resume(sleeper);
  const auto asked_twice = a.clock.now() + 2500ms;
  a.until([&] { return a.clock.now() >= asked_twice; });
  EXPECT_EQ(a.ups, ups);
  EXPECT_EQ(a.facts.id, second);
}

TEST(sentinel, one_of_three_is_enough_to_begin) {
  own_server servers{patient_sentinels};
  servers.kill("sentinel-0 sentinel-1");
  engine_client a{servers.uri()};
  ASSERT_TRUE(a.ready());
  EXPECT_NE(granted(a.acquire(a.ids.next(), "n")), nullptr);
}

TEST(sentinel, without_sentinels_the_master_is_still_used) {
  own_server servers{patient_sentinels};
  engine_client a{servers.uri()};
  ASSERT_TRUE(a.ready());
  servers.kill("sentinel-0 sentinel-1 sentinel-2");
  EXPECT_NE(granted(a.acquire(a.ids.next(), "n")), nullptr);
  EXPECT_TRUE(a.is_up);
}

TEST(sentinel, when_none_can_tell_the_words_name_them_all) {
  own_server servers{patient_sentinels};
  servers.kill("sentinel-0 sentinel-1 sentinel-2");
  engine_client a{servers.uri()};
  ASSERT_TRUE(a.until([&] { return a.downs > 0; }));
  EXPECT_EQ(a.absence.kind, why::not_sent);
  EXPECT_NE(a.absence.words.find("no sentinel has said"), std::string::npos) << a.absence.words;
  EXPECT_NE(a.absence.words.find("cannot connect"), std::string::npos) << a.absence.words;
  EXPECT_EQ(why_not(a.acquire(a.ids.next(), "n")), why::not_sent);
  servers.restart("sentinel-0 sentinel-1 sentinel-2");
  EXPECT_TRUE(a.ready());
}

TEST(sentinel, a_master_that_they_do_not_know_is_named) {
  own_server servers{patient_sentinels};
  const auto uri = servers.uri();
  engine_client a{uri.substr(0, uri.rfind('/')) + "/mistress"};
  ASSERT_TRUE(a.until([&] { return a.downs > 0; }));
  EXPECT_NE(a.absence.words.find("mistress"), std::string::npos) << a.absence.words;
  EXPECT_NE(a.absence.words.find("No such master"), std::string::npos) << a.absence.words;
}

}  // namespace
