// The primary ends, and its standby is promoted, on a real pair of servers.
#include "contract/api/server.hpp"

#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

namespace contract {
namespace {

using namespace std::chrono_literals;

// The lease outlives the promotion on a busy machine too.
constexpr tyer::lock_options lasting{.ttl = 20s};

template <class F>
bool eventually(F holds) {
  for (const auto end = std::chrono::steady_clock::now() + 40s; std::chrono::steady_clock::now() < end;) {
    if (holds()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(promotion, of_a_synchronous_standby_costs_no_hold_and_no_place_in_the_queue) {
  server pair;
  const auto name = fresh_name();
  tyer::client a{engine_uri()}, b{engine_uri()}, c{engine_uri()};
  tyer::mutex here{a, name, lasting}, there{b, name, lasting}, third{c, name, lasting};
  tyer::hold h = here.acquire();
  const auto token = h.token();
  auto next = std::async(std::launch::async, [&] {
    const tyer::hold theirs = there.acquire();
    return theirs.token();
  });
  ASSERT_TRUE(eventually([&] { return tyer::admin{c}.show(name).size() == 2; }));
  const auto until = h.valid_until();
  pair.failover();
  EXPECT_TRUE(eventually([&] { return h.valid_until() > until; })) << "it is not renewed by the new primary";
  EXPECT_TRUE(h.valid());
  EXPECT_FALSE(third.try_acquire_for(1s).valid());
  EXPECT_EQ(h.release(), tyer::release_outcome::released);
  ASSERT_EQ(next.wait_for(40s), std::future_status::ready);
  EXPECT_GT(next.get(), token);
}

// Whether the standby had the last grant or not.
TEST(promotion, no_token_runs_back) {
  server pair;
  tyer::client c{engine_uri()};
  tyer::mutex m{c, fresh_name(), tyer::lock_options{.ttl = 2s}};
  std::vector<std::uint64_t> tokens;
  std::atomic<std::size_t> had{0};
  std::jthread worker{[&](const std::stop_token& enough) {
    while (!enough.stop_requested()) {
      tyer::failure why;
      if (tyer::hold h = m.try_acquire(why)) {
        tokens.push_back(h.token());
        ++had;
      }
    }
  }};
  EXPECT_TRUE(eventually([&] { return had > 10; }));
  pair.failover();
  const auto before = had.load();
  EXPECT_TRUE(eventually([&] { return had > before + 10; }));
  worker.request_stop();
  worker.join();
  for (std::size_t i = 1; i < tokens.size(); ++i) EXPECT_LT(tokens[i - 1], tokens[i]);
}

}  // namespace
}  // namespace contract
