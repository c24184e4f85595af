// How long servers took lately: what is older than four seconds says nothing.
#include "engines/etcd/client/pace.hpp"

#include <gtest/gtest.h>

namespace tyer::etcd {
namespace {

using namespace std::chrono_literals;

struct etcd_pace : ::testing::Test {
  const engine::time_point start{1000s};
  pace p;
};

TEST_F(etcd_pace, nothing_is_known_at_first) { EXPECT_EQ(p.slowest(start), 0s); }

TEST_F(etcd_pace, is_that_of_the_slowest) {
  p.took(start, 20ms);
  p.took(start + 100ms, 300ms);
  p.took(start + 200ms, 10ms);
  EXPECT_EQ(p.slowest(start + 300ms), 300ms);
}

TEST_F(etcd_pace, is_remembered_for_two_seconds_at_least) {
  p.took(start, 300ms);
  EXPECT_EQ(p.slowest(start + 1999ms), 300ms);
  p.took(start + 3900ms, 10ms);  // the other half has begun anew with it
  EXPECT_EQ(p.slowest(start + 5900ms), 10ms);
}

TEST_F(etcd_pace, is_forgotten_while_nothing_is_asked) {
  p.took(start, 300ms);
  EXPECT_EQ(p.slowest(start + 60s), 0s);
}

}  // namespace
}  // namespace tyer::etcd
