#include "engines/redis/deployment/diagnosis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using tyer::redis::examine;

std::string info(std::string_view version, std::string_view role, std::string_view policy, std::string_view maxmemory,
                 std::string_view aof) {
  return "# Server\r\nredis_version:" + std::string{version} + "\r\nrole:" + std::string{role} +
         "\r\nmaxmemory:" + std::string{maxmemory} + "\r\nmaxmemory_policy:" + std::string{policy} +
         "\r\naof_enabled:" + std::string{aof} + "\r\n";
}

int worst(const std::vector<tyer::engine::finding>& f) {
  int w = 0;
  for (const auto& x : f) w = std::max(w, x.severity);
  return w;
}

TEST(diagnosis, a_healthy_server_has_no_findings) {
  EXPECT_TRUE(examine(info("7.0.15", "master", "noeviction", "0", "1"), 0, {}).empty());
}

TEST(diagnosis, findings) {
  EXPECT_EQ(worst(examine(info("6.0.16", "master", "noeviction", "0", "1"), 0, {})), 3);
  EXPECT_EQ(worst(examine(info("7.0.15", "slave", "noeviction", "0", "1"), 0, {})), 3);
  EXPECT_EQ(worst(examine(info("7.0.15", "master", "allkeys-lru", "1000000", "1"), 0, {})), 2);
  EXPECT_EQ(worst(examine(info("7.0.15", "master", "allkeys-lru", "0", "1"), 0, {})), 1);
  EXPECT_EQ(worst(examine(info("7.0.15", "master", "noeviction", "0", "0"), 0, {})), 2);
  EXPECT_EQ(worst(examine(info("7.0.15", "master", "noeviction", "0", "1"), 3, {})), 2);
}

TEST(diagnosis, tombstones_that_are_shorter_than_clocks_are_apart_are_told) {
  using namespace std::chrono_literals;
  EXPECT_FALSE(tyer::redis::examine_tombstones(599s, 10min));
  const auto f = tyer::redis::examine_tombstones(3600s, 10min);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->severity, 2);
  EXPECT_EQ(f->what, "clocks are 3600 s apart, and a free lock remembers its last token for 600 s");
}

TEST(diagnosis, replicas_that_nobody_asks_are_told) {
  const auto with = info("7.0.15", "master", "noeviction", "0", "1") + "connected_slaves:2\r\n";
  EXPECT_EQ(worst(examine(with, 0, {})), 1);
  EXPECT_TRUE(examine(with, 0, {.confirmed = true}).empty());
  EXPECT_TRUE(examine(info("7.0.15", "master", "noeviction", "0", "1") + "connected_slaves:0\r\n", 0, {}).empty());
}

}  // namespace
