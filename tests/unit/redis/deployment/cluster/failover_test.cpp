// Masters that go away or change: what they had is kept or told lost, and the others are not disturbed.
#include "unit/redis/deployment/cluster/a_cluster.hpp"
#include "unit/redis/engine_client.hpp"
#include "unit/redis/own_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;
using tyer::core::id;
using tyer::engine::fate;
using tyer::engine::why;

struct cluster_failover : testing::Test {
  void SetUp() override {
    ASSERT_TRUE(a.ready());
    names = {name_at(0), name_at(6000), name_at(12000)};
    for (int i = 0; i < 3; ++i) {
      ids.push_back(a.ids.next());
      auto r = engine_client::request(ids.back(), names[static_cast<std::size_t>(i)]);
      r.ttl = 60s;
      ASSERT_NE(granted(a.acquire(r)), nullptr);
    }
  }

  // A name of the master that has this slot.
  std::string name_at(std::uint16_t slot) {
    const int master = outside.master_of(slot);
    for (int i = 0;; ++i) {
      auto name = "failover/" + std::to_string(i);
      if (outside.master_of(slot_of(name)) == master) return name;
    }
  }
  std::vector<fate> keep_all() {
    std::vector<tyer::engine::target> targets;
    for (std::size_t i = 0; i < 3; ++i) targets.push_back({ids[i], names[i]});
    const auto o =
        a.wait<tyer::engine::kept>([&](auto back) { a.value->keep(targets, fate::holding, 60s, std::move(back)); });
    const auto* k = std::get_if<tyer::engine::kept>(&o.result);
    return k != nullptr ? k->fates : std::vector<fate>(3, fate::unknown);
  }
  std::string member(std::size_t i) const { return "slot-" + std::to_string(slot_of(names[i])); }
  // The replicas have all that was written so far.
  void replicated() {
    for (const auto& n : outside.masters()) {
      outside.at(n.at.port).ask({"SET", "{" + key_of(n) + "}", "1"});
      ASSERT_EQ(outside.at(n.at.port).ask({"WAIT", "1", "10000"}).number, 1);
    }
  }
  // Where the replica of this master is that has followed it so far. 0: there is none.
  int replica_of(int master) {
    const auto text = outside.at(master).ask({"INFO", "replication"}).text;
    const auto at = text.find("slave0:"), port = text.find("port=", at);
    return at != text.npos && text.find("state=online", at) != text.npos ? std::stoi(text.substr(port + 5)) : 0;
  }
  static std::string key_of(const tyer::redis::node& n) {
    for (int i = 0;; ++i) {
      const auto slot = tyer::redis::hash_slot(std::to_string(i));
      for (const auto& run : n.slots) {
        if (run.first <= slot && slot <= run.last) return std::to_string(i);
      }
    }
  }

  own_server server;
  a_cluster outside{server.uri()};
  engine_client a{server.uri()};
  std::vector<std::string> names;
  std::vector<id> ids;
};

const std::vector<fate> all_held(3, fate::holding);

TEST_F(cluster_failover, asked_for_by_an_operator) {
  engine_client b{server.uri()};
  ASSERT_TRUE(b.ready());
  const auto next = b.ids.next();
  ASSERT_NE(queued(b.acquire(next, names[0])), nullptr);
  const auto channel = "tyer:inbox:" + tyer::core::to_hex(next.view().substr(0, 8)) + "{" + names[0] + "}";
  const auto listened_for = [&](int port) {
    return outside.at(port).ask({"PUBSUB", "SHARDNUMSUB", channel}).items[1].number == 1;
  };
  const int old = outside.master_of(slot_of(names[0]));
  ASSERT_TRUE(b.until([&] { return listened_for(old); }));
  server.failover(member(0));
  EXPECT_TRUE(a.until([&] { return keep_all() == all_held; }));
  ASSERT_TRUE(b.until([&] { return !why_not(b.keep(next, names[0], fate::waiting)); }));
  ASSERT_TRUE(b.until([&] { return listened_for(outside.master_of(slot_of(names[0]))); })) << "at the new master";
  const auto before = b.wakes.size();
  ASSERT_TRUE(a.until([&] { return !why_not(a.release(ids[0], names[0])); }));
  EXPECT_TRUE(b.until([&] { return b.wakes.size() > before; }, 3s));
  EXPECT_NE(granted(b.acquire(next, names[0])), nullptr);
}

// A replica refuses us, so it is tried less and less often; but at once when it is the master. The median of three: a machine
// that stands still for a moment proves nothing.
TEST_F(cluster_failover, a_replica_that_had_refused_us_is_tried_at_once_when_it_is_the_master) {
  using clock = std::chrono::steady_clock;
  const auto master = [&] { return outside.master_of(slot_of(names[0])); };
  const auto take_over = [&] {  // asking nobody: then it does not depend on how fast they vote
    int next = 0;
    EXPECT_TRUE(a.until([&] { return (next = replica_of(master())) != 0; }));
    replicated();
    const auto began = clock::now();
    EXPECT_EQ(outside.at(next).ask({"CLUSTER", "FAILOVER", "TAKEOVER"}).text, "OK");
    EXPECT_TRUE(a.until([&] { return master() == next && keep_all() == all_held; }));
    return clock::now() - began;
  };
  std::vector<clock::duration> took;
  for (int i = 0; i < 3; ++i) {
    const int old = master();
    take_over();
    ASSERT_TRUE(a.until([&] { return replica_of(master()) == old; }));
    outside.at(old).ask({"CLIENT", "KILL", "TYPE", "pubsub"});
    const auto refused_until = clock::now() + 4s;
    ASSERT_TRUE(a.until([&] { return clock::now() > refused_until; }));
    took.push_back(take_over());
    EXPECT_EQ(master(), old);
  }
  std::sort(took.begin(), took.end());
  EXPECT_LT(took[1], 150ms);
}

TEST_F(cluster_failover, a_master_that_dies_is_replaced) {
  replicated();
  const int ups = a.ups;
  server.kill(member(0));
  ASSERT_TRUE(a.until([&] { return a.downs > 0; }));
  EXPECT_NE(a.absence.words.find("slots are without a master"), std::string::npos) << a.absence.words;
  EXPECT_EQ(keep_all(), (std::vector{fate::unknown, fate::holding, fate::holding})) << "the others go on";
  EXPECT_EQ(why_not(a.acquire(a.ids.next(), names[0])), why::not_sent);
  ASSERT_TRUE(a.until([&] { return a.ups > ups; }, 30s));
  EXPECT_TRUE(a.until([&] { return keep_all() == all_held; })) << "its replica had it";
}

TEST_F(cluster_failover, all_die_and_come_back) {
  replicated();
  const int ups = a.ups;
  server.kill();
  ASSERT_TRUE(a.until([&] { return a.downs >= 3; }));
  EXPECT_EQ(keep_all(), std::vector(3, fate::unknown));
  server.restart();
  ASSERT_TRUE(a.until([&] { return a.ups > ups; }, 30s));
  EXPECT_TRUE(a.until([&] { return keep_all() != std::vector(3, fate::unknown); }, 30s));
}

TEST_F(cluster_failover, a_master_that_hangs_is_replaced) {
  replicated();
  const int ups = a.ups;
  const auto victim = server.pause(member(1));
  ASSERT_TRUE(a.until([&] { return a.ups > ups; }, 30s)) << "by its replica";
  EXPECT_TRUE(a.until([&] { return keep_all() == all_held; }));
  server.resume(victim);
  EXPECT_TRUE(a.until([&] { return keep_all() == all_held; })) << "whoever comes back does not lead us back";
}

TEST_F(cluster_failover, one_that_hangs_delays_no_answer_of_the_others) {
  const auto group = [&](std::size_t i) { return a.value->group(names[i]); };
  EXPECT_NE(group(0), group(1));
  EXPECT_NE(group(1), group(2));
  EXPECT_NE(group(0), group(2));
  const auto victim = server.pause(member(0));
  std::vector<std::shared_ptr<engine_client::box<tyer::engine::kept>>> kept;
  for (std::size_t i = 0; i < 3; ++i) {
    const tyer::engine::target t{ids[i], names[i]};
    kept.push_back(std::make_shared<engine_client::box<tyer::engine::kept>>());
    a.value->keep({&t, 1}, fate::holding, 60s, a.into<tyer::engine::kept>(kept.back()));
  }
  EXPECT_TRUE(a.until([&] { return kept[1]->got && kept[2]->got; }));
  for (const std::size_t i : {1U, 2U}) EXPECT_EQ(std::get<0>(kept[i]->got->result).fates, std::vector{fate::holding});
  server.resume(victim);
  EXPECT_TRUE(a.until([&] { return kept[0]->got.has_value(); }));
}

}  // namespace
