// redis+sentinel:// while a failover takes long: with Redis' own failover-timeout of three minutes, and a replica that cannot
// follow the new master, so that the sentinel that leads the failover waits for it.
#include "unit/redis/engine_client.hpp"
#include "unit/redis/own_server.hpp"
#include "unit/redis/raw_redis.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;

constexpr auto failover_limit = 30s;  // only for tests that fail
constexpr auto asked_thrice = 3500ms;

class sentinel_slow : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* role : {"master", "replica-0", "replica-1"}) {
      // Who follows already goes on.
      ASSERT_FALSE(at(role).ask({"CONFIG", "SET", "masterauth", "wrong"}).is_error());
    }
    ASSERT_EQ(told_by_leader()["failover-timeout"], "180000");
  }
  // By sentinel-0. Answers when all sentinels know the new master, long before it is over.
  void fail_over() {
    servers.failover();
    ASSERT_TRUE(is_under_way());
  }
  bool is_under_way() { return told_by_leader()["flags"].find("failover_in_progress") != std::string::npos; }

  std::map<std::string, std::string> told_by_leader() {
    std::map<std::string, std::string> fields;
    const auto told = at("sentinel-0").ask({"SENTINEL", "MASTER", "mymaster"});
    for (std::size_t i = 0; i + 1 < told.items.size(); i += 2) fields[told.items[i].text] = told.items[i + 1].text;
    return fields;
  }
  raw_redis at(const std::string& member) { return raw_redis{address_of(member)}; }
  std::string address_of(const std::string& member) {
    return "redis://127.0.0.1:" + std::to_string(servers.port_of(member));
  }
  // With this sentinel first, or alone.
  std::string uri(std::initializer_list<const char*> sentinels) {
    std::string hosts;
    for (const char* s : sentinels) {
      hosts += (hosts.empty() ? "" : ",") + std::string{"127.0.0.1:"} + std::to_string(servers.port_of(s));
    }
    return "redis+sentinel://" + hosts + "/mymaster";
  }
  static bool moves_to_another(engine_client& c) {
    const auto first = c.facts.id;
    return c.until([&] { return c.is_up && c.facts.id != first; }, failover_limit);
  }

  own_server servers{std::string{patient_sentinels} + "--set failover-timeout=default --set parallel-syncs=default"};
};

TEST_F(sentinel_slow, nobody_is_led_back_to_the_old_master_by_who_leads_the_failover) {
  engine_client a{uri({"sentinel-0", "sentinel-1", "sentinel-2"})};
  ASSERT_TRUE(a.ready());
  fail_over();
  ASSERT_TRUE(moves_to_another(a));
  const int ups = a.ups;
  const auto end = a.clock.now() + asked_thrice;
  a.until([&] { return a.clock.now() >= end; });
  EXPECT_TRUE(is_under_way()) << "or this proves nothing";
  EXPECT_EQ(a.ups, ups) << a.logged;
}

TEST_F(sentinel_slow, two_with_different_sentinels_first_do_not_hold_together) {
  engine_client a{uri({"sentinel-0", "sentinel-1", "sentinel-2"})};
  engine_client b{uri({"sentinel-1", "sentinel-2", "sentinel-0"})};
  ASSERT_TRUE(a.ready() && b.ready());
  fail_over();
  ASSERT_TRUE(moves_to_another(a) && moves_to_another(b));
  const auto holder = a.ids.next();
  ASSERT_NE(granted(a.acquire(holder, "n")), nullptr);
  const auto end = a.clock.now() + asked_thrice;
  while (a.clock.now() < end) {
    const auto o = b.acquire(b.ids.next(), "n", false);
    ASSERT_EQ(granted(o), nullptr) << a.logged << b.logged;
    const auto again = a.acquire(holder, "n");
    ASSERT_NE(granted(again), nullptr) << a.logged;
  }
  EXPECT_TRUE(is_under_way()) << "or this proves nothing";
}

TEST_F(sentinel_slow, a_client_that_knows_only_the_leader_of_the_failover_finds_the_new_master) {
  engine_client a{uri({"sentinel-0"})};
  ASSERT_TRUE(a.ready());
  fail_over();
  EXPECT_TRUE(moves_to_another(a)) << a.logged;
  EXPECT_TRUE(is_under_way()) << "or this proves nothing";
}

TEST_F(sentinel_slow, who_begins_meanwhile_begins_at_the_new_master) {
  engine_client a{uri({"sentinel-1"})};
  ASSERT_TRUE(a.ready());
  fail_over();
  ASSERT_TRUE(moves_to_another(a));
  engine_client b{uri({"sentinel-0", "sentinel-1", "sentinel-2"})}, c{uri({"sentinel-0"})};
  ASSERT_TRUE(b.ready() && c.ready());
  EXPECT_TRUE(is_under_way()) << "or this proves nothing";
  EXPECT_EQ(b.facts.id, a.facts.id);
  EXPECT_EQ(c.facts.id, a.facts.id);
}

// As with a list of rights from before that command was asked.
TEST_F(sentinel_slow, without_the_right_to_ask_for_the_address_the_other_sentinels_are_followed) {
  for (const char* s : {"sentinel-0", "sentinel-1", "sentinel-2"}) {
    ASSERT_FALSE(at(s).ask({"ACL", "SETUSER", "default", "-sentinel|get-master-addr-by-name"}).is_error());
  }
  engine_client a{uri({"sentinel-0", "sentinel-1", "sentinel-2"})}, b{uri({"sentinel-0"})};
  ASSERT_TRUE(a.ready() && b.ready());
  const auto first = b.facts.id;
  ASSERT_EQ(at("sentinel-0").ask({"SENTINEL", "FAILOVER", "mymaster"}).text, "OK");
  ASSERT_TRUE(moves_to_another(a)) << a.logged;
  const int ups = a.ups;
  const auto end = a.clock.now() + asked_thrice;
  a.until([&] {
    b.value->run(b.clock.now());
    return a.clock.now() >= end;
  });
  EXPECT_TRUE(is_under_way()) << "or this proves nothing";
  EXPECT_EQ(a.ups, ups) << a.logged;
  EXPECT_EQ(b.facts.id, first) << "who knows only this one stays where it is\n" << b.logged;
}

TEST_F(sentinel_slow, the_death_of_the_master_is_over_when_another_is_promoted) {
  engine_client a{servers.uri()};
  ASSERT_TRUE(a.ready());
  const auto first = a.facts.id;
  const auto victim = servers.kill("master");
  ASSERT_TRUE(a.until([&] { return a.is_up && a.facts.id != first; }, failover_limit)) << a.logged;
  servers.restart(victim);  // and takes itself for the master
  const int ups = a.ups;
  const auto end = a.clock.now() + asked_thrice;
  a.until([&] { return a.clock.now() >= end; });
  EXPECT_EQ(a.ups, ups) << a.logged;
}

}  // namespace
