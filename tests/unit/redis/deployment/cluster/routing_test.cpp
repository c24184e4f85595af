// Every request goes to the master that has the name.
#include "unit/redis/deployment/cluster/a_cluster.hpp"
#include "unit/redis/engine_client.hpp"
#include "unit/redis/own_server.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;
using tyer::engine::fate;
using tyer::engine::why;

struct many_names {
  many_names(engine_client& a, const std::string& prefix, int count) {
    for (int i = 0; i < count; ++i) {
      names.push_back(prefix + std::to_string(i));
      ids.push_back(a.ids.next());
    }
    for (int i = 0; i < count; ++i)
      targets.push_back({ids[static_cast<std::size_t>(i)], names[static_cast<std::size_t>(i)]});
  }
  std::vector<std::string> names;
  std::vector<tyer::core::id> ids;
  std::vector<tyer::engine::target> targets;
};

TEST(cluster_routing, many_names_in_one_keep) {
  a_cluster outside{server_uri()};
  engine_client a{server_uri()};
  ASSERT_TRUE(a.ready());
  for (const int port : outside.ports()) outside.at(port).ask({"CONFIG", "RESETSTAT"});
  many_names all{a, "routing/many/", 200};
  std::set<int> masters;
  for (std::size_t i = 0; i < all.ids.size(); ++i) {
    ASSERT_NE(granted(a.acquire(all.ids[i], all.names[i])), nullptr) << all.names[i];
    masters.insert(outside.master_of(slot_of(all.names[i])));
  }
  EXPECT_EQ(masters.size(), 3U);
  all.targets[7].who = a.ids.next();
  const auto kept =
      a.wait<tyer::engine::kept>([&](auto back) { a.value->keep(all.targets, fate::holding, 10s, std::move(back)); });
  std::vector<fate> expected(all.ids.size(), fate::holding);
  expected[7] = fate::gone;
  EXPECT_EQ(std::get<0>(kept.result).fates, expected);
  EXPECT_EQ(outside.sum("errorstats", "errorstat_MOVED:count="), 0) << "nothing was sent to the wrong node";
}

TEST(cluster_routing, one_node_is_enough_to_begin_with) {
  a_cluster outside{server_uri()};
  for (const int port : outside.ports()) {
    engine_client a{"redis+cluster://127.0.0.1:" + std::to_string(port)};
    ASSERT_TRUE(a.ready()) << "a replica, too, knows the masters";
    EXPECT_NE(granted(a.acquire(a.ids.next(), "routing/one/" + std::to_string(port))), nullptr);
  }
}

TEST(cluster_routing, nodes_that_are_not_there_are_passed_over) {
  a_cluster outside{server_uri()};
  engine_client a{"redis+cluster://127.0.0.1:1,127.0.0.1:" + std::to_string(outside.ports().front())};
  ASSERT_TRUE(a.ready());
  EXPECT_EQ(a.downs, 0);
}

TEST(cluster_routing, nobody_there) {
  engine_client a{"redis+cluster://127.0.0.1:1,127.0.0.1:2"};
  ASSERT_TRUE(a.until([&] { return a.downs == 1; }));
  EXPECT_EQ(a.absence.kind, why::not_sent);
  EXPECT_NE(a.absence.words.find("no node of the cluster"), std::string::npos) << a.absence.words;
  EXPECT_NE(a.absence.words.find("127.0.0.1:2"), std::string::npos) << a.absence.words;
  EXPECT_EQ(why_not(a.acquire(a.ids.next(), "n")), why::not_sent);
  const auto listed = a.wait<tyer::engine::page>([&](auto back) { a.value->list("", "", 10, std::move(back)); });
  EXPECT_EQ(why_not(listed), why::not_sent);
}

// Those that the map was asked through in the beginning.
TEST(cluster_routing, connections_that_were_not_needed_any_more_were_told_as_the_end_of_the_client) {
  engine_client a{server_uri()};
  ASSERT_TRUE(a.ready());
  EXPECT_TRUE(a.until([&] { return a.logged.find("it is not needed any more") != std::string::npos; })) << a.logged;
  EXPECT_EQ(a.logged.find("the client was closed"), std::string::npos) << a.logged;
}

TEST(cluster_routing, a_listing_goes_through_all_masters) {
  engine_client a{server_uri()};
  ASSERT_TRUE(a.ready());
  many_names all{a, "routing/list/", 60};
  for (std::size_t i = 0; i < all.ids.size(); ++i) ASSERT_NE(granted(a.acquire(all.ids[i], all.names[i])), nullptr);
  std::set<std::string> found;
  std::string cursor;
  do {
    const auto page =
        a.wait<tyer::engine::page>([&](auto back) { a.value->list("routing/list/", cursor, 100, std::move(back)); });
    ASSERT_FALSE(why_not(page));
    for (const auto& e : std::get<0>(page.result).entries) found.insert(e.name);
    cursor = std::get<0>(page.result).cursor;
  } while (!cursor.empty());
  EXPECT_EQ(found.size(), all.names.size());
}

TEST(cluster_routing, a_diagnosis_asks_all_masters) {
  engine_client a{server_uri()};
  ASSERT_TRUE(a.ready());
  const auto got = a.wait<std::vector<tyer::engine::finding>>([&](auto back) { a.value->diagnose(std::move(back)); });
  ASSERT_FALSE(why_not(got));
  std::set<std::string> servers;
  for (const auto& f : std::get<0>(got.result)) servers.insert(f.what.substr(0, f.what.find(": ")));
  EXPECT_EQ(servers.size(), 3U) << "each has no append-only file";
}

// Grants and renewals count once a replica of that master has them.
TEST(cluster_routing, replicas_confirm) {
  engine_client a{server_uri() + "?replicas=1", patient}, too_many{server_uri() + "?replicas=2"};
  ASSERT_TRUE(a.ready());
  many_names all{a, "routing/replicas/", 9};
  for (std::size_t i = 0; i < all.ids.size(); ++i) ASSERT_NE(granted(a.acquire(all.ids[i], all.names[i])), nullptr);
  const auto kept =
      a.wait<tyer::engine::kept>([&](auto back) { a.value->keep(all.targets, fate::holding, 10s, std::move(back)); });
  EXPECT_EQ(std::get<0>(kept.result).fates, std::vector<fate>(all.ids.size(), fate::holding));
  ASSERT_TRUE(too_many.ready());
  EXPECT_EQ(why_not(too_many.acquire(too_many.ids.next(), "routing/too many")), why::unknown);
}

}  // namespace
