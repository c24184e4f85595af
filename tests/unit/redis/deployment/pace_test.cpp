// How often the nodes of a cluster and the sentinels are asked while a master is away.
#include "engines/redis/deployment/pace.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;

// It was seven times a second, all nodes by each client, for as long as a master was away or refused it.
TEST(redis_pace, all_nodes_were_asked_as_often_after_a_day_without_a_master_as_in_the_first_second) {
  const auto pause = [](std::chrono::milliseconds away) { return tyer::redis::pace(away, 150ms, 2500ms); };
  EXPECT_EQ(pause(0s), 150ms);
  EXPECT_EQ(pause(4s), 150ms);
  for (const auto away : {5s, 10s, 30s, 60s}) {
    EXPECT_LE(20 * pause(away), away) << "found as quickly as it was replaced";
  }
  int times = 0;
  for (auto t = 0ms; t < 1h; t += pause(t)) ++times;
  EXPECT_LT(times, 1700);
  EXPECT_EQ(pause(24h), 2500ms);
}

}  // namespace
