#include "primitives/gate.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tyer::primitives {
namespace {

using namespace std::chrono_literals;

TEST(gate, is_passed_by_one) {
  gate g;
  EXPECT_TRUE(g.try_acquire());
  EXPECT_FALSE(g.try_acquire());
  EXPECT_FALSE(g.try_acquire_until(std::chrono::steady_clock::now() + 1ms));
  EXPECT_FALSE(g.try_acquire_until(std::chrono::steady_clock::time_point{}));
  EXPECT_FALSE(g.try_acquire_until(std::chrono::steady_clock::time_point::min()));
  g.release();
  EXPECT_TRUE(g.try_acquire_until(std::chrono::steady_clock::now() + 1h));
  g.release();
  g.acquire();
}

TEST(gate, excludes_and_forgets_nobody) {
  gate g;
  int inside = 0, turns = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        if (t % 2 == 0) {
          g.acquire();
        } else {
          while (!g.try_acquire_until(std::chrono::steady_clock::now() + 50us)) continue;
        }
        EXPECT_EQ(++inside, 1);
        ++turns;
        --inside;
        g.release();
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(turns, 16000);
}

}  // namespace
}  // namespace tyer::primitives
