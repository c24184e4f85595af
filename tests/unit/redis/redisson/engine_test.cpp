// The engine of protocol=redisson, seen from outside: what lies in the server is what Redisson would have written.
#include "engines/redis/redisson/layout.hpp"
#include "unit/redis/engine_client.hpp"
#include "unit/redis/raw_redis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;
using tyer::engine::fate;
using tyer::engine::why;
using tyer::redis::redisson::field_of;

const std::string java = "5b1e4a2c-0f6d-4c1e-9f0a-3f1b2c4d5e6f:47";

std::string uri() { return server_uri() + "?protocol=redisson"; }

const tyer::engine::busy* busy(const tyer::engine::outcome<tyer::engine::answer>& o) {
  const auto* a = std::get_if<tyer::engine::answer>(&o.result);
  return a != nullptr ? std::get_if<tyer::engine::busy>(a) : nullptr;
}

class redisson_engine : public testing::Test {
 protected:
  redisson_engine() {
    raw.ask({"FLUSHALL"});
    EXPECT_TRUE(a.ready());
    EXPECT_TRUE(b.ready());
  }

  // As a thread of Java's that has entered so often.
  void java_holds(const std::string& name, const std::string& count, const std::string& ms) {
    raw.ask({"HSET", name, java, count});
    raw.ask({"PEXPIRE", name, ms});
  }
  std::int64_t listeners(const std::string& channel) { return raw.ask({"PUBSUB", "NUMSUB", channel}).items[1].number; }

  raw_redis raw{server_uri()};
  engine_client a{uri(), 2000ms, ""}, b{uri(), 2000ms, ""};
};

TEST_F(redisson_engine, a_hold_is_a_hash_of_one_field_that_expires) {
  const auto who = a.ids.next();
  ASSERT_NE(granted(a.acquire(who, "order")), nullptr);
  const auto all = raw.ask({"HGETALL", "order"});
  ASSERT_EQ(all.items.size(), 2u);
  EXPECT_EQ(all.items[0].text, field_of(who));
  EXPECT_EQ(all.items[1].text, "1");
  const auto left = raw.ask({"PTTL", "order"}).number;
  EXPECT_GT(left, 5000);
  EXPECT_LE(left, 10000);
  EXPECT_EQ(raw.ask({"DBSIZE"}).number, 1) << "nothing else is written";
}

TEST_F(redisson_engine, who_may_not_say_when_a_lock_ends_leaves_none_behind_for_ever) {
  raw.ask({"ACL", "SETUSER", "poor", "on", ">pw", "~*", "&*", "+@all", "-pexpire"});
  auto poor = uri();
  poor.insert(poor.find("://") + 3, "poor:pw@");
  engine_client c{poor, 2000ms, ""};
  ASSERT_TRUE(c.ready());
  EXPECT_TRUE(why_not(c.acquire(c.ids.next(), "order")));
  EXPECT_EQ(raw.ask({"EXISTS", "order"}).number, 0);
  EXPECT_NE(granted(a.acquire(a.ids.next(), "order")), nullptr);
  raw.ask({"ACL", "DELUSER", "poor"});
}

// It named the page of the other layout, and a prefix that names have not here.
TEST_F(redisson_engine, a_right_that_is_missing_was_told_with_the_rights_of_the_other_layout) {
  raw.ask({"ACL", "SETUSER", "poor", "on", ">pw", "~other", "&*", "+@all"});
  auto poor = uri();
  poor.insert(poor.find("://") + 3, "poor:pw@");
  engine_client c{poor, 2000ms, ""};
  ASSERT_TRUE(c.ready());
  const auto got = c.acquire(c.ids.next(), "order");
  const auto* f = std::get_if<tyer::engine::failure>(&got.result);
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->words.find("docs/engines/redisson.md"), std::string::npos) << f->words;
  EXPECT_NE(f->words.find("~NAME"), std::string::npos) << f->words;
  raw.ask({"ACL", "DELUSER", "poor"});
}

TEST_F(redisson_engine, the_same_id_again_never_counts_up) {
  const auto who = a.ids.next();
  a.acquire(who, "order");
  ASSERT_NE(granted(a.acquire(who, "order")), nullptr);
  EXPECT_EQ(raw.ask({"HGET", "order", field_of(who)}).text, "1");
  EXPECT_EQ(std::get<0>(a.release(who, "order").result), fate::holding);
  EXPECT_EQ(raw.ask({"EXISTS", "order"}).number, 0);
}

TEST_F(redisson_engine, there_is_no_token) {
  const auto got = a.acquire(a.ids.next(), "order");
  ASSERT_NE(granted(got), nullptr);
  EXPECT_EQ(granted(got)->part, 0u);
  EXPECT_FALSE(a.value->can().token);
}

TEST_F(redisson_engine, a_thread_of_java_is_in_the_way_for_as_long_as_its_lease) {
  java_holds("order", "2", "7000");
  const auto o = a.acquire(a.ids.next(), "order");
  ASSERT_NE(busy(o), nullptr);
  EXPECT_GT(busy(o)->hint, 4s);
  EXPECT_LE(busy(o)->hint, 7001ms);
  EXPECT_EQ(raw.ask({"HGET", "order", java}).text, "2") << "and is left alone";
}

TEST_F(redisson_engine, a_release_says_zero_on_the_channel_of_the_name) {
  raw_redis listens{server_uri()};
  for (const std::string name : {"order", "order/{eu}"}) {
    const auto channel = tyer::redis::redisson::layout::channel(name);
    listens.ask({"SUBSCRIBE", channel});
    const auto who = a.ids.next();
    a.acquire(who, name);
    a.release(who, name);
    const auto message = listens.read();
    EXPECT_EQ(message.items[1].text, channel);
    EXPECT_EQ(message.items[2].text, "0");
    listens.ask({"UNSUBSCRIBE", channel});
  }
}

TEST_F(redisson_engine, what_java_says_wakes_a_waiter) {
  java_holds("order", "1", "60000");
  const auto who = a.ids.next();
  ASSERT_NE(busy(a.acquire(who, "order")), nullptr);
  const auto channel = tyer::redis::redisson::layout::channel("order");
  ASSERT_TRUE(a.until([&] { return listeners(channel) == 1 && !a.wakes.empty(); })) << "listens, then looks once more";
  ASSERT_NE(busy(a.acquire(who, "order")), nullptr);
  a.wakes.clear();
  raw.ask({"DEL", "order"});
  raw.ask({"PUBLISH", channel, "0"});
  ASSERT_TRUE(a.until([&] { return !a.wakes.empty(); }));
  EXPECT_EQ(a.wakes.front(), who);
  ASSERT_NE(granted(a.acquire(who, "order")), nullptr);
  EXPECT_TRUE(a.until([&] { return listeners(channel) == 0; })) << "nobody waits any more";
}

TEST_F(redisson_engine, whoever_waits_nowhere_has_no_second_connection) {
  const auto connections = [&] {
    std::size_t count = 0;
    const auto text = raw.ask({"CLIENT", "LIST"}).text;
    for (std::size_t at = 0; (at = text.find(" name=tyer ", at)) != text.npos; ++at) ++count;
    return count;
  };
  java_holds("order", "1", "60000");
  a.acquire(a.ids.next(), "order", false);
  EXPECT_EQ(connections(), 2u) << "one of each client";
}

TEST_F(redisson_engine, one_who_left_before_it_was_heard_does_not_deafen_the_next) {
  java_holds("order", "1", "60000");
  for (int i = 0; i < 30; ++i) {
    const auto left = a.ids.next(), next = a.ids.next();
    ASSERT_NE(busy(a.acquire(left, "order")), nullptr);
    a.release(left, "order");
    ASSERT_NE(busy(a.acquire(next, "order")), nullptr);
    ASSERT_TRUE(a.until([&] { return std::ranges::count(a.wakes, next) > 0; })) << i;
    ASSERT_NE(busy(a.acquire(next, "order")), nullptr);
    a.wakes.clear();
    ASSERT_TRUE(a.until([&] {
      raw.ask({"PUBLISH", tyer::redis::redisson::layout::channel("order"), "0"});
      return std::ranges::count(a.wakes, next) > 0;
    })) << i;
    a.release(next, "order");
  }
}

TEST_F(redisson_engine, a_broken_hold_is_gone) {
  const auto who = a.ids.next();
  a.acquire(who, "order");
  raw.ask({"DEL", "order"});
  java_holds("order", "1", "60000");
  EXPECT_EQ(std::get<0>(a.keep(who, "order", fate::holding).result).fates.front(), fate::gone);
  EXPECT_EQ(std::get<0>(a.release(who, "order").result), fate::gone);
  EXPECT_EQ(raw.ask({"HGET", "order", java}).text, "1");
}

TEST_F(redisson_engine, telling_who_holds_does_not_touch_the_lease) {
  const auto who = a.ids.next();
  a.acquire(who, "order");
  raw.ask({"PERSIST", "order"});
  EXPECT_EQ(std::get<0>(a.keep(who, "order", fate::waiting).result).fates.front(), fate::holding);
  EXPECT_EQ(raw.ask({"PTTL", "order"}).number, -1);
  EXPECT_EQ(std::get<0>(a.keep(who, "order", fate::holding).result).fates.front(), fate::holding);
  EXPECT_GT(raw.ask({"PTTL", "order"}).number, 5000) << "and a renewal gives it one again";
}

TEST_F(redisson_engine, what_is_no_lock_is_a_conflict) {
  raw.ask({"SET", "text", "x"});
  raw.ask({"HSET", "map", "key", "value"});
  for (const char* name : {"text", "map"}) {
    SCOPED_TRACE(name);
    const auto o = a.acquire(a.ids.next(), name);
    ASSERT_EQ(why_not(o), why::name_conflict);
    EXPECT_NE(std::get<tyer::engine::failure>(o.result).words.find("Redisson"), std::string::npos);
  }
  EXPECT_EQ(raw.ask({"GET", "text"}).text, "x");
}

TEST_F(redisson_engine, what_is_no_lock_does_not_keep_others_from_being_renewed) {
  const auto who = a.ids.next();
  a.acquire(who, "order");
  raw.ask({"SET", "text", "x"});
  const tyer::engine::target both[]{{who, "text"}, {who, "order"}};
  const auto kept =
      a.wait<tyer::engine::kept>([&](auto back) { a.value->keep(both, fate::holding, 20s, std::move(back)); });
  EXPECT_EQ(std::get<0>(kept.result).fates, (std::vector{fate::gone, fate::holding}));
  EXPECT_GT(raw.ask({"PTTL", "order"}).number, 15000);
}

TEST_F(redisson_engine, shows_threads_of_java_and_leaves_maps_alone) {
  java_holds("lock/java", "2", "60000");
  raw.ask({"HSET", "lock/map", "key", "value"});
  raw.ask({"PEXPIRE", "lock/map", "60000"});
  const auto who = a.ids.next();
  a.acquire(who, "lock/ours");
  const auto o = a.wait<tyer::engine::page>([&](auto back) { a.value->list("lock/", "", 1000, std::move(back)); });
  auto all = std::get<0>(o.result).entries;
  std::ranges::sort(all, {}, &tyer::engine::entry::name);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "lock/java");
  EXPECT_EQ(all[0].owner, java + ", entered 2 times");
  EXPECT_FALSE(all[0].who);
  EXPECT_EQ(all[1].who, who);
}

TEST_F(redisson_engine, only_exclusive_locks) {
  for (const auto how : {tyer::engine::mode::shared, tyer::engine::mode::permit}) {
    auto r = engine_client::request(a.ids.next(), "order");
    r.what.how = how;
    EXPECT_EQ(why_not(a.acquire(r)), why::unsupported);
  }
  EXPECT_EQ(raw.ask({"DBSIZE"}).number, 0);
}

TEST_F(redisson_engine, too_late_does_nothing) {
  auto r = engine_client::request(a.ids.next(), "order");
  r.not_after = -10s;
  EXPECT_EQ(why_not(a.acquire(r)), why::not_sent);
  EXPECT_EQ(raw.ask({"DBSIZE"}).number, 0);
}

TEST_F(redisson_engine, listens_again_after_a_cut) {
  java_holds("order", "1", "60000");
  const auto who = a.ids.next();
  a.acquire(who, "order");
  const auto channel = tyer::redis::redisson::layout::channel("order");
  ASSERT_TRUE(a.until([&] { return listeners(channel) == 1 && !a.wakes.empty(); }));
  a.acquire(who, "order");
  a.wakes.clear();
  raw.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
  ASSERT_TRUE(a.until([&] { return !a.wakes.empty(); })) << "what was said meanwhile was missed, so it looks";
  EXPECT_EQ(listeners(channel), 1);
}

std::string words_of(const std::string& text) {
  auto parsed = tyer::core::parse_uri(text);
  EXPECT_FALSE(parsed.error) << text;
  tyer::core::boot_clock clock;
  tyer::core::random_ids ids;
  return ::tyer_engine_redis(parsed.value, {"", &ids, &clock, 2000ms, {}}).error.words;
}

TEST(redisson_uri, says_what_means_nothing_there) {
  EXPECT_EQ(words_of("redis://h?protocol=redisson"), "");
  EXPECT_NE(words_of("redis://h?protocol=other").find("must be redisson"), std::string::npos);
  EXPECT_NE(words_of("redis://h?protocol=redisson&tombstone_ttl=5").find("tombstone_ttl"), std::string::npos);
  EXPECT_NE(words_of("redis+cluster://h?protocol=redisson&waiters_max=5").find("waiters_max"), std::string::npos);
  EXPECT_EQ(words_of("redis://h?protocol=redisson&replicas=1"), "");
  EXPECT_EQ(words_of("redis+sentinel://h/m?protocol=redisson"), "");
  EXPECT_EQ(words_of("rediss+cluster://h,i?protocol=redisson"), "");
}

}  // namespace
