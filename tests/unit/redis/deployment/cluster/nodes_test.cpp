#include "engines/redis/deployment/cluster/nodes.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tyer::redis;
using tyer::core::endpoint;

TEST(cluster_nodes, masters_replicas_epochs_and_slots) {
  const auto nodes = read_nodes(
      "a1 10.0.0.1:6379@16379 myself,master - 0 0 7 connected 0-5460 9000\n"
      "b2 10.0.0.2:6380@16380 slave a1 0 1 7 connected\n"
      "c3 10.0.0.3:6379@16379 master,fail - 0 1 9 disconnected 5461-8999\n",
      "asked");
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0].at, (endpoint{"10.0.0.1", 6379}));
  EXPECT_TRUE(nodes[0].master);
  EXPECT_EQ(nodes[0].epoch, 7U);
  EXPECT_EQ(nodes[0].slots, (std::vector<slot_run>{{0, 5460}, {9000, 9000}}));
  EXPECT_FALSE(nodes[1].master);
  EXPECT_TRUE(nodes[1].slots.empty());
  EXPECT_TRUE(nodes[2].master) << "it has its slots until somebody takes them";
  EXPECT_EQ(nodes[2].epoch, 9U);
}

TEST(cluster_nodes, a_node_without_an_address_is_where_we_asked) {
  const auto nodes = read_nodes("a1 :6379@16379 myself,master - 0 0 1 connected 0-16383\n", "asked");
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].at, (endpoint{"asked", 6379}));
}

TEST(cluster_nodes, a_name_that_is_announced_goes_before_the_address) {
  const auto nodes = read_nodes(
      "a1 10.0.0.1:6379@16379,one.example master - 0 0 1 connected\n"
      "b2 10.0.0.2:6379@16379, master - 0 0 1 connected\n"
      "c3 10.0.0.3:6379@16379,,shard-id=77 master - 0 0 1 connected\n",
      "asked");
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0].at.host, "one.example");
  EXPECT_EQ(nodes[0].address, "10.0.0.1");
  EXPECT_EQ(nodes[1].at.host, "10.0.0.2");
  EXPECT_EQ(nodes[2].at.host, "10.0.0.3");
}

TEST(cluster_nodes, ipv6) {
  const auto nodes = read_nodes("a1 2001:db8::1:6379@16379 master - 0 0 1 connected 1\n", "asked");
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].at, (endpoint{"2001:db8::1", 6379}));
}

TEST(cluster_nodes, slots_on_their_way_are_where_they_were) {
  const auto nodes = read_nodes(
      "a1 h:1@2 master - 0 0 1 connected 0-10 [5->-b2]\n"
      "b2 h:3@4 master - 0 0 2 connected 11-20 [5-<-a1]\n",
      "asked");
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].slots, (std::vector<slot_run>{{0, 10}}));
  EXPECT_EQ(nodes[1].slots, (std::vector<slot_run>{{11, 20}}));
}

TEST(cluster_nodes, who_cannot_be_reached_is_left_out) {
  EXPECT_TRUE(read_nodes("a1 :0@0 master,noaddr - 0 0 1 disconnected 0-5\n"
                         "b2 h:1@2 handshake - 0 0 0 disconnected\n",
                         "asked")
                  .empty());
}

TEST(cluster_nodes, nonsense) {
  for (const auto* text : {"", "\n\n", "x", "a b c d e f g h i", "a1 h:1@2 master - 0 0 many connected 1",
                           "ERR This instance has cluster support disabled"}) {
    EXPECT_TRUE(read_nodes(text, "asked").empty()) << text;
  }
  const auto nodes = read_nodes("a1 h:1@2 master - 0 0 1 connected 5-2 16384 0-99999 x 7\n", "asked");
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].slots, (std::vector<slot_run>{{7, 7}}));
}

TEST(cluster_nodes, as_resp3_marks_text) {
  EXPECT_EQ(read_nodes("txt:a1 h:1@2 master - 0 0 1 connected 1\n", "asked").size(), 1U);
}

TEST(redirection, moved_and_ask) {
  const auto moved = read_redirection("MOVED 3999 10.0.0.1:6381", "asked");
  ASSERT_TRUE(moved);
  EXPECT_TRUE(moved->for_good);
  EXPECT_EQ(moved->slot, 3999);
  EXPECT_EQ(moved->to, (endpoint{"10.0.0.1", 6381}));
  const auto ask = read_redirection("ASK 0 ::1:6381", "asked");
  ASSERT_TRUE(ask);
  EXPECT_FALSE(ask->for_good);
  EXPECT_EQ(ask->to, (endpoint{"::1", 6381}));
}

TEST(redirection, without_a_host_it_is_the_one_we_asked) {
  EXPECT_EQ(read_redirection("MOVED 1 :6381", "asked")->to, (endpoint{"asked", 6381}));
  EXPECT_EQ(read_redirection("MOVED 1 ?:6381", "asked")->to, (endpoint{"asked", 6381}));
}

TEST(redirection, nonsense) {
  for (const auto* text : {"", "MOVED", "MOVED x h:1", "MOVED 16384 h:1", "MOVED 1 h", "MOVED 1 h:0", "MOVED 1 h:99999",
                           "MOVING 1 h:1", "ERR no"}) {
    EXPECT_FALSE(read_redirection(text, "asked")) << text;
  }
}

}  // namespace
