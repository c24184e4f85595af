#include "engines/redis/connection/server_clock.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using tyer::redis::server_clock;
using time_point = server_clock::time_point;
using std::chrono::microseconds;

const time_point start{1000s};
const microseconds noon{1'763'000'000'000'000};

TEST(server_clock, knows_nothing_before_the_first_exchange) {
  server_clock c;
  EXPECT_FALSE(c.known());
  EXPECT_TRUE(c.observe(start, start + 2ms, noon));
  EXPECT_TRUE(c.known());
  c.forget();
  EXPECT_FALSE(c.known());
}

TEST(server_clock, brackets_the_servers_time) {
  server_clock c;
  c.observe(start, start + 2ms, noon);
  const auto x = start + 10ms;
  EXPECT_GE(c.latest(x), noon + 10ms);
  EXPECT_LE(c.latest(x), noon + 10ms + 10us);
  EXPECT_LE(c.earliest(x), noon + 8ms);
  EXPECT_GE(c.earliest(x), noon + 8ms - 10us);
}

TEST(server_clock, gets_less_sure_with_age) {
  server_clock c;
  c.observe(start, start + 1ms, noon);
  const auto hour = start + 1h;
  EXPECT_GE(c.latest(hour) - c.earliest(hour), 700ms);
}

TEST(server_clock, prefers_the_narrower_exchange) {
  server_clock c;
  c.observe(start, start + 1ms, noon);
  c.observe(start + 1s, start + 1s + 500ms, noon + 1s + 250ms);  // slow: tells less than what is known
  EXPECT_LE(c.latest(start + 2s), noon + 2s + 1ms);
  c.observe(start + 3s, start + 3s + 100us, noon + 3s + 50us);
  EXPECT_LE(c.latest(start + 4s) - c.earliest(start + 4s), 500us);
}

TEST(server_clock, a_jump_is_noticed_and_believed) {
  server_clock c;
  c.observe(start, start + 1ms, noon);
  EXPECT_TRUE(c.observe(start + 1s, start + 1s + 1ms, noon + 1s + 500us));
  EXPECT_EQ(c.jumps(), 0u);
  EXPECT_FALSE(c.observe(start + 2s, start + 2s + 1ms, noon + 1h));
  EXPECT_EQ(c.jumps(), 1u);
  EXPECT_GE(c.latest(start + 2s + 1ms), noon + 1h);
  EXPECT_FALSE(c.observe(start + 3s, start + 3s + 1ms, noon));
  EXPECT_LE(c.latest(start + 3s + 1ms), noon + 3ms);
}

TEST(server_clock, a_wide_exchange_that_overlaps_is_no_jump) {
  server_clock c;
  c.observe(start, start + 1ms, noon);
  EXPECT_TRUE(c.observe(start + 1s, start + 3s, noon + 1s + 100us));
  EXPECT_TRUE(c.observe(start + 4s, start + 6s, noon + 5s + 999ms));
  EXPECT_EQ(c.jumps(), 0u);
}

}  // namespace
