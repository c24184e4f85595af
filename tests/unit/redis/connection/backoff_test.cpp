#include "engines/redis/connection/backoff.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using tyer::redis::backoff_max;
using tyer::redis::backoff_min;
using tyer::redis::longest_pause;
using tyer::redis::settled;

struct search {
  std::chrono::milliseconds found{};
  int attempts = 0;
};

// A server that comes back then, if chance makes every pause this part of the longest.
search look_for(std::chrono::milliseconds back, double part) {
  search s;
  while (s.found < back) {
    s.found += std::chrono::milliseconds{static_cast<int>(static_cast<double>(longest_pause(s.found).count()) * part)};
    ++s.attempts;
  }
  return s;
}

TEST(backoff, an_outage_costs_a_hold_at_most_a_quarter_more_than_it_lasts) {
  for (auto back = 1ms; back < 4s; back += 1ms) {
    for (const double part : {0.5, 0.75, 1.0}) EXPECT_LE(look_for(back, part).found, back + backoff_min + back / 4);
  }
}

TEST(backoff, a_server_that_is_away_for_long_is_asked_seldom) {
  EXPECT_EQ(longest_pause(1h), backoff_max);
  EXPECT_LE(look_for(1s, 0.5).attempts, 32);
  EXPECT_LE(look_for(60s, 0.5).attempts, 160);
}

TEST(backoff, resets_every_quarter_of_a_second_grew_to_an_outage) {
  EXPECT_TRUE(settled(30ms, 250ms));
  EXPECT_TRUE(settled(30ms, 100ms));
  EXPECT_FALSE(settled(30ms, 99ms)) << "it lets everybody in and cuts them off";
  EXPECT_TRUE(settled(400ms, 400ms));
  EXPECT_FALSE(settled(400ms, 399ms));
  EXPECT_TRUE(settled(1h, 1s));
  EXPECT_FALSE(settled(1h, 999ms));
}

}  // namespace
