#include "primitives/gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tyer::primitives {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

TEST(gate, is_closed_by_one) {
  gate g;
  EXPECT_TRUE(g.wait_for_opening(steady_clock::time_point{}));
  EXPECT_TRUE(g.try_close());
  EXPECT_FALSE(g.try_close());
  EXPECT_FALSE(g.wait_for_opening(steady_clock::now() + 1ms));
  EXPECT_FALSE(g.wait_for_opening(steady_clock::time_point{}));
  EXPECT_FALSE(g.wait_for_opening(steady_clock::time_point::min()));
  g.open();
  EXPECT_TRUE(g.wait_for_opening(steady_clock::now() + 1h));
  EXPECT_TRUE(g.try_close());
}

TEST(gate, excludes_and_forgets_nobody) {
  gate g;
  std::atomic<bool> too_long{false};
  int inside = 0, turns = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        while (!g.try_close()) {
          const auto limit = t % 2 == 0 ? std::chrono::nanoseconds{1min} : std::chrono::nanoseconds{50us};
          if (!g.wait_for_opening(steady_clock::now() + limit) && t % 2 == 0) too_long = true;
        }
        EXPECT_EQ(++inside, 1);
        ++turns;
        --inside;
        g.open();
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(turns, 16000);
  EXPECT_FALSE(too_long);
}

TEST(gate, wakes_all_who_wait_for_its_opening_even_if_it_is_closed_again_at_once) {
  gate g;
  ASSERT_TRUE(g.try_close());
  std::atomic<int> waiting{0}, woken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      ++waiting;
      woken += g.wait_for_opening(steady_clock::now() + 1min) ? 1 : 0;
    });
  }
  while (waiting < 4 || woken < 4) {  // a thread may come later than it says, and then waits for the next opening
    g.open();
    while (!g.try_close()) continue;
    std::this_thread::yield();
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(woken, 4);
}

}  // namespace
}  // namespace tyer::primitives
