// Waiters in a cluster are woken by a message that goes to their shard only.
#include "unit/redis/deployment/cluster/a_cluster.hpp"
#include "unit/redis/engine_client.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;
using tyer::core::id;
using tyer::engine::fate;
using tyer::engine::why;

struct cluster_wakeup : testing::Test {
  void SetUp() override {
    ASSERT_TRUE(a.ready());
    ASSERT_TRUE(b.ready());
  }

  // `who` of b waits, and is listened for: it was looked after once more.
  void queue(const id& who) {
    auto& master = outside.at(outside.master_of(slot_of(name)));
    ASSERT_NE(queued(b.acquire(who, name)), nullptr);
    const auto before = master.calls()["evalsha"];
    ASSERT_TRUE(b.until([&] { return listeners(who) == 1 && master.calls()["evalsha"] > before; }));
  }
  std::ptrdiff_t woken(const id& who) const { return std::count(b.wakes.begin(), b.wakes.end(), who); }
  std::string channel(const id& who) const {
    return "tyer:inbox:" + tyer::core::to_hex(who.view().substr(0, 8)) + "{" + name + "}";
  }
  std::int64_t listeners(const id& who) {
    std::int64_t all = 0;
    for (const int port : outside.ports())
      all += outside.at(port).ask({"PUBSUB", "SHARDNUMSUB", channel(who)}).items[1].number;
    return all;
  }

  a_cluster outside{server_uri()};
  engine_client a{server_uri()}, b{server_uri()};
  const std::string name = "wakeup " + tyer::core::to_hex(a.ids.next().view());
};

TEST_F(cluster_wakeup, goes_to_the_shard_and_to_no_other_node) {
  const auto who = a.ids.next(), next = b.ids.next();
  ASSERT_NE(granted(a.acquire(who, name)), nullptr);
  queue(next);
  const auto broadcast = outside.sum("cluster", "cluster_stats_messages_publish_sent:");
  ASSERT_EQ(std::get<0>(a.release(who, name).result), fate::holding);
  ASSERT_TRUE(b.until([&] { return woken(next) == 1; }, 3s)) << "long before it would look again";
  EXPECT_NE(granted(b.acquire(next, name)), nullptr);
  EXPECT_EQ(outside.sum("cluster", "cluster_stats_messages_publish_sent:"), broadcast);
}

TEST_F(cluster_wakeup, a_hand_over_costs_three_requests) {
  const auto who = a.ids.next(), next = b.ids.next(), third = b.ids.next();
  ASSERT_NE(granted(a.acquire(who, name)), nullptr);
  queue(next);
  auto& master = outside.at(outside.master_of(slot_of(name)));
  master.ask({"CONFIG", "RESETSTAT"});
  ASSERT_NE(queued(b.acquire(third, name)), nullptr) << "listened for already";
  ASSERT_EQ(std::get<0>(a.release(who, name).result), fate::holding);
  ASSERT_TRUE(b.until([&] { return woken(next) == 1; }));
  ASSERT_NE(granted(b.acquire(next, name)), nullptr);
  const auto calls = master.calls();
  EXPECT_EQ(calls.at("evalsha"), 3);
  EXPECT_EQ(calls.count("ssubscribe"), 0U);
  EXPECT_EQ(woken(third), 0);
}

TEST_F(cluster_wakeup, one_channel_for_all_of_a_client_that_wait_for_a_name) {
  ASSERT_NE(granted(a.acquire(a.ids.next(), name)), nullptr);
  const auto first = b.ids.next(), second = b.ids.next();
  queue(first);
  ASSERT_NE(queued(b.acquire(second, name)), nullptr);
  EXPECT_EQ(listeners(first), 1);
}

TEST_F(cluster_wakeup, goes_along_when_the_slot_moves) {
  const auto who = a.ids.next(), next = b.ids.next();
  ASSERT_NE(granted(a.acquire(who, name)), nullptr);
  queue(next);
  moving_slot slot{outside, name};
  slot.finish();
  const auto kept = [&] { return b.keep(next, name, fate::waiting); };
  ASSERT_TRUE(b.until([&] { return !why_not(kept()); })) << "it has heard of the move";
  ASSERT_TRUE(b.until([&] {
    return outside.at(slot.to).ask({"PUBSUB", "SHARDNUMSUB", channel(next)}).items[1].number == 1;
  })) << "it listens anew";
  ASSERT_TRUE(a.until([&] { return !why_not(a.release(who, name)); }));
  ASSERT_TRUE(b.until([&] { return woken(next) == 1; }, 3s));
  EXPECT_NE(granted(b.acquire(next, name)), nullptr);
}

TEST_F(cluster_wakeup, comes_back_after_the_connection_was_lost) {
  const auto who = a.ids.next(), next = b.ids.next();
  ASSERT_NE(granted(a.acquire(who, name)), nullptr);
  queue(next);
  outside.at(outside.master_of(slot_of(name))).ask({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
  ASSERT_TRUE(a.until([&] { return !why_not(a.release(who, name)); })) << "said while nobody listened, or nearly";
  ASSERT_TRUE(b.until([&] { return woken(next) >= 1; }, 3s));
}

TEST_F(cluster_wakeup, a_turn_that_came_before_anybody_listened_is_found) {
  const auto who = a.ids.next(), next = b.ids.next();
  ASSERT_NE(granted(a.acquire(who, name)), nullptr);
  ASSERT_NE(queued(b.acquire(next, name)), nullptr);
  ASSERT_EQ(std::get<0>(a.release(who, name).result), fate::holding)
      << "b has not begun to listen: its loop stands still";
  EXPECT_TRUE(b.until([&] { return woken(next) >= 1; }, 3s));
}

// A place is kept by keep() alone: whoever waits behind counts on that.
TEST_F(cluster_wakeup, to_begin_to_listen_brought_a_dead_place_back_to_life) {
  const auto who = a.ids.next(), next = b.ids.next(), second = b.ids.next();
  ASSERT_NE(granted(a.acquire(who, name)), nullptr);
  auto dead = engine_client::request(next, name);
  dead.enqueue = true;
  dead.waiter_ttl = 100ms;
  ASSERT_NE(queued(b.acquire(dead)), nullptr);
  const auto places = "tyer:{" + name + "}w";
  auto& master = outside.at(outside.master_of(slot_of(name)));
  const auto place = master.ask({"HGET", places, std::string{next.view()}}).text;
  ASSERT_FALSE(place.empty());
  const auto over = a.clock.now() + 110ms;
  a.until([&] { return a.clock.now() > over; });  // the loop of b stands still
  ASSERT_TRUE(b.until([&] { return woken(next) > 0; })) << "it listens, has looked, and must ask again";
  const auto left = master.ask({"HGET", places, std::string{next.view()}}).text;
  EXPECT_TRUE(left.empty() || left == place);
  ASSERT_NE(queued(b.acquire(second, name)), nullptr);
  ASSERT_EQ(std::get<0>(a.release(who, name).result), fate::holding);
  EXPECT_NE(granted(b.acquire(second, name)), nullptr);
}

TEST_F(cluster_wakeup, upgrades) {
  const auto one = a.ids.next(), two = b.ids.next();
  auto r = engine_client::request(one, name);
  r.what.how = tyer::engine::mode::shared;
  ASSERT_NE(granted(a.acquire(r)), nullptr);
  r.what.who = two;
  ASSERT_NE(granted(b.acquire(r)), nullptr);
  const auto upgraded = b.wait<tyer::engine::answer>(
      [&](auto back) { b.value->convert({two, name}, tyer::engine::mode::exclusive, 2s, std::move(back)); });
  ASSERT_NE(queued(upgraded), nullptr);
  ASSERT_TRUE(b.until([&] { return woken(two) == 1; })) << "listens; that it holds says nothing, so it asks";
  ASSERT_EQ(std::get<0>(a.release(one, name).result), fate::holding);
  EXPECT_TRUE(b.until([&] { return woken(two) == 2; }, 3s));
}

TEST_F(cluster_wakeup, nobody_listens_for_long_when_nobody_waits) {
  ASSERT_NE(granted(a.acquire(a.ids.next(), name)), nullptr);
  const auto next = b.ids.next();
  auto r = engine_client::request(next, name);
  r.enqueue = true;
  ASSERT_NE(queued(b.acquire(r)), nullptr);
  ASSERT_TRUE(b.until([&] { return listeners(next) == 1; }));
  EXPECT_TRUE(b.until([&] { return listeners(next) == 0; }, 40s));
}

TEST_F(cluster_wakeup, a_user_without_channels_looks_again) {
  for (const int port : outside.ports())
    outside.at(port).ask({"ACL", "SETUSER", "mute", "on", ">pw", "~tyer:*", "+@all", "resetchannels"});
  auto uri = server_uri();
  uri.insert(uri.find("://") + 3, "mute:pw@");
  engine_client c{uri};
  ASSERT_TRUE(c.ready());
  const auto who = a.ids.next(), next = c.ids.next();
  ASSERT_NE(granted(a.acquire(who, name)), nullptr);
  ASSERT_NE(queued(c.acquire(next, name)), nullptr);
  ASSERT_EQ(std::get<0>(a.release(who, name).result), fate::holding);
  EXPECT_NE(granted(c.acquire(next, name)), nullptr);
  EXPECT_EQ(listeners(next), 0);
}

TEST_F(cluster_wakeup, what_an_operator_says_is_heard_once) {
  const auto who = b.ids.next();
  ASSERT_NE(granted(b.acquire(who, name)), nullptr);
  const auto asked = a.wait<std::uint32_t>([&](auto back) { a.value->ask(name, "please", std::move(back)); });
  EXPECT_EQ(std::get<0>(asked.result), 1U);
  ASSERT_TRUE(b.until([&] { return !b.asks.empty(); }));
  const auto end = b.clock.now() + 200ms;
  b.until([&] { return b.clock.now() > end; });
  EXPECT_EQ(b.asks.size(), 1U) << "though three nodes have passed it on";
}

}  // namespace
