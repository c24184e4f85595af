#include "runtime/latch.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace tyer::runtime {
namespace {

TEST(latch, one_that_is_open_holds_up_nobody) {
  latch l;
  EXPECT_FALSE(l.open());
  l.let_go();
  EXPECT_TRUE(l.open());
  l.wait();
}

// Many pairs, each meeting at another moment: before the wait, in it, and just as it falls asleep.
TEST(latch, nobody_is_forgotten) {
  for (int round = 0; round < 500; ++round) {
    std::vector<std::shared_ptr<latch>> latches;
    std::vector<std::thread> waiting;
    for (int i = 0; i < 8; ++i) {
      latches.push_back(std::make_shared<latch>());
      waiting.emplace_back([l = latches.back()] { l->wait(); });
    }
    for (const auto& l : latches) l->let_go();
    for (auto& t : waiting) t.join();
  }
}

}  // namespace
}  // namespace tyer::runtime
