// A server that throws keys away when its memory is full: what is lost, and how it is told.
#include "unit/redis/engine_client.hpp"
#include "unit/redis/own_server.hpp"
#include "unit/redis/raw_redis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;
using tyer::engine::fate;

class redis_eviction : public ::testing::Test {
 protected:
  std::int64_t info(const std::string& section, const std::string& field) {
    const auto text = raw.ask({"INFO", section}).text;
    const auto at = text.find(field + ":");
    return at == std::string::npos ? -1 : std::stoll(text.substr(at + field.size() + 1));
  }

  // The locks are the only keys that have an end, so they are what the server throws away.
  bool evict_all_locks() {
    raw.ask({"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"});
    raw.ask({"CONFIG", "SET", "maxmemory", std::to_string(info("memory", "used_memory") + (1 << 20))});
    const auto locks = [&] { return raw.ask({"KEYS", "tyer:*"}).items.size(); };
    const std::string ballast(64 << 10, 'x');
    for (int i = 0; i < 1000 && locks() > 0; ++i) raw.ask({"SET", "ballast/" + std::to_string(i), ballast});
    raw.ask({"CONFIG", "SET", "maxmemory", "0"});
    return locks() == 0 && info("stats", "evicted_keys") > 0;
  }

  own_server server;
  raw_redis raw{server.uri()};
  engine_client a{server.uri()}, b{server.uri()};
};

TEST_F(redis_eviction, of_a_lock_is_a_loss_that_the_next_renewal_tells) {
  ASSERT_TRUE(a.ready() && b.ready());
  const auto who = a.ids.next();
  ASSERT_NE(granted(a.acquire(who, "n")), nullptr);
  ASSERT_TRUE(evict_all_locks());
  EXPECT_EQ(std::get<0>(a.keep(who, "n", fate::holding).result).fates, std::vector{fate::gone});
}

// What the matrix says no to: until the end of its window, or its next renewal, the first one does not know.
TEST_F(redis_eviction, lets_the_next_one_in_at_once_with_a_larger_token) {
  ASSERT_TRUE(a.ready() && b.ready());
  const auto first = a.acquire(a.ids.next(), "n");
  ASSERT_NE(granted(first), nullptr);
  ASSERT_TRUE(evict_all_locks());
  const auto second = b.acquire(b.ids.next(), "n");
  ASSERT_NE(granted(second), nullptr);
  EXPECT_GT(granted(second)->part, granted(first)->part);
}

TEST_F(redis_eviction, of_a_place_in_the_queue_is_told_by_its_keep) {
  ASSERT_TRUE(a.ready() && b.ready());
  ASSERT_NE(granted(a.acquire(a.ids.next(), "n")), nullptr);
  const auto who = b.ids.next();
  ASSERT_NE(queued(b.acquire(who, "n")), nullptr);
  ASSERT_TRUE(evict_all_locks());
  EXPECT_EQ(std::get<0>(b.keep(who, "n", fate::waiting).result).fates, std::vector{fate::gone});
  EXPECT_NE(granted(b.acquire(who, "n")), nullptr);
}

TEST_F(redis_eviction, is_warned_of_before_it_happens) {
  ASSERT_TRUE(a.ready());
  raw.ask({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  raw.ask({"CONFIG", "SET", "maxmemory", "100mb"});
  const auto got = a.wait<std::vector<tyer::engine::finding>>([&](auto back) { a.value->diagnose(std::move(back)); });
  const auto& all = std::get<0>(got.result);
  EXPECT_TRUE(std::ranges::any_of(
      all, [](const auto& f) { return f.what == "maxmemory-policy is allkeys-lru" && f.severity >= 2; }));
}

}  // namespace
