// Who of a client looks out for those ahead, and when.
#include "engines/etcd/locks/lookouts.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tyer::etcd {
namespace {

using namespace std::chrono_literals;

struct etcd_lookouts : ::testing::Test {
  static core::id of(char c) { return core::id::from(std::string(16, c)); }
  std::string due(engine::time_point now) {
    std::string all;
    while (const auto who = l.take_due(now)) all += who->view()[0];
    return all;
  }
  const engine::time_point start{1000s};
  lookouts l;
};

TEST_F(etcd_lookouts, the_first_of_a_name_looks_out_and_the_others_do_not) {
  l.join("x", 5, of('a'), start + 1s);
  l.join("x", 6, of('b'), start);
  l.join("y", 7, of('c'), start + 2s);
  EXPECT_EQ(l.next(), start + 1s);
  EXPECT_EQ(due(start + 999ms), "");
  EXPECT_EQ(due(start + 1s), "a");
  EXPECT_EQ(due(start + 9s), "c");
  EXPECT_EQ(l.next(), engine::time_point::max()) << "each has its watch now";
}

TEST_F(etcd_lookouts, when_the_first_goes_the_next_looks_out) {
  l.join("x", 5, of('a'), start);
  l.join("x", 7, of('c'), start);
  l.join("x", 6, of('b'), start);
  EXPECT_EQ(due(start), "a");
  l.leave("x", 5, of('a'), start + 3s);
  EXPECT_EQ(due(start + 2s), "");
  EXPECT_EQ(due(start + 3s), "b");
  l.leave("x", 6, of('b'), start + 4s);
  l.leave("x", 7, of('c'), start + 4s);
  EXPECT_EQ(l.next(), engine::time_point::max()) << "nobody is left";
}

TEST_F(etcd_lookouts, when_another_goes_the_first_need_not_look_again) {
  l.join("x", 5, of('a'), start);
  l.join("x", 6, of('b'), start);
  EXPECT_EQ(due(start), "a");
  l.leave("x", 6, of('b'), start);
  EXPECT_EQ(due(start + 9s), "");
}

TEST_F(etcd_lookouts, where_each_goes_before_it_looked_out_the_next_has_its_own_time) {
  l.join("x", 5, of('a'), start + 250ms);
  l.join("x", 6, of('b'), start + 250ms);
  l.leave("x", 5, of('a'), start + 300ms);
  EXPECT_EQ(due(start + 299ms), "");
  EXPECT_EQ(due(start + 300ms), "b");
}

// Nobody would find out that the holder has died.
TEST_F(etcd_lookouts, where_nobody_stays_for_long_somebody_looks_out_now_and_then) {
  char who = 'a';
  l.join("x", 1, of(who), start + 250ms);
  std::string looked;
  for (int i = 1; i < 50; ++i) {  // one after the other, each for 100 ms
    const auto now = start + i * 100ms;
    looked += due(now);
    l.join("x", i + 1, of(static_cast<char>(who + 1)), now + 250ms);
    l.leave("x", i, of(who++), now + 250ms);
  }
  EXPECT_EQ(looked.size(), 2u) << "in five seconds";
}

TEST_F(etcd_lookouts, one_that_goes_leaves_a_later_time_to_the_next) {
  l.join("x", 5, of('a'), start + 9s);
  l.join("x", 6, of('b'), start + 9s);
  l.leave("x", 5, of('a'), start + 1s);
  EXPECT_EQ(l.next(), start + 9s);
}

TEST_F(etcd_lookouts, whoever_could_not_see_looks_out_again) {
  l.join("x", 5, of('a'), start);
  EXPECT_EQ(due(start), "a");
  l.arm("x", start + 2s);
  l.arm("x", start + 3s);
  EXPECT_EQ(l.next(), start + 2s) << "the earlier of two";
  EXPECT_EQ(due(start + 2s), "a");
  EXPECT_EQ(due(start + 9s), "");
  l.arm("nobody waits for this", start);
  EXPECT_EQ(due(start + 9s), "");
}

TEST_F(etcd_lookouts, after_an_outage_the_first_of_every_name_looks_out) {
  l.join("x", 5, of('a'), start);
  l.join("x", 6, of('b'), start);
  l.join("y", 7, of('c'), start + 60s);
  EXPECT_EQ(due(start), "a");
  l.arm_all(start + 1s);
  const auto all = due(start + 1s);
  EXPECT_TRUE(all == "ac" || all == "ca") << all;
}

TEST_F(etcd_lookouts, to_leave_twice_or_without_having_joined_changes_nothing) {
  l.join("x", 5, of('a'), start);
  l.leave("x", 5, of('b'), start);
  l.leave("x", 4, of('a'), start);
  l.leave("z", 5, of('a'), start);
  EXPECT_EQ(due(start), "a");
  l.leave("x", 5, of('a'), start);
  l.leave("x", 5, of('a'), start);
  EXPECT_EQ(l.next(), engine::time_point::max());
}

}  // namespace
}  // namespace tyer::etcd
