#include "engines/redis/cluster/slot_map.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tyer::redis;
using tyer::core::endpoint;

const endpoint a{"a", 1}, b{"b", 1}, c{"c", 1};

node master(const endpoint& at, std::uint64_t epoch, std::vector<slot_run> slots) {
  return {at, at.host, true, epoch, std::move(slots)};
}

struct slot_map_test : testing::Test {
  bool learn(const std::vector<node>& nodes) {
    return map.learn(nodes, [this](const endpoint& e) { return e == lost; });
  }
  endpoint of(std::uint16_t slot) const {
    const auto n = map.owner(slot);
    return n == slot_map::nobody ? endpoint{} : map.claims()[n].master;
  }
  slot_map map;
  endpoint lost;
};

TEST_F(slot_map_test, knows_nothing_at_first) {
  EXPECT_EQ(map.without_master(), 16384U);
  EXPECT_EQ(of(0), endpoint{});
}

TEST_F(slot_map_test, learns) {
  EXPECT_TRUE(learn({master(a, 1, {{0, 99}}), master(b, 2, {{100, 16383}})}));
  EXPECT_EQ(map.without_master(), 0U);
  EXPECT_EQ(of(99), a);
  EXPECT_EQ(of(100), b);
  EXPECT_FALSE(learn({master(a, 1, {{0, 99}}), master(b, 2, {{100, 16383}})}));
}

TEST_F(slot_map_test, a_replica_has_no_slots) {
  auto r = master(a, 1, {{0, 10}});
  r.master = false;
  EXPECT_FALSE(learn({r}));
  EXPECT_EQ(map.without_master(), 16384U);
}

TEST_F(slot_map_test, a_node_that_was_cut_off_does_not_lead_back) {
  learn({master(a, 1, {{0, 99}}), master(b, 2, {{100, 16383}})});
  EXPECT_TRUE(learn({master(c, 3, {{0, 99}}), master(b, 2, {{100, 16383}})}));
  EXPECT_EQ(of(7), c);
  EXPECT_FALSE(learn({master(a, 1, {{0, 99}}), master(b, 2, {{100, 16383}})}));
  EXPECT_EQ(of(7), c);
}

TEST_F(slot_map_test, who_is_given_up_can_be_replaced_by_anybody) {
  learn({master(a, 9, {{0, 99}})});
  lost = a;
  EXPECT_TRUE(learn({master(b, 1, {{0, 99}})}));
  EXPECT_EQ(of(7), b);
}

TEST_F(slot_map_test, a_slot_that_moved_goes_at_once_and_stays) {
  learn({master(a, 1, {{0, 99}}), master(b, 2, {{100, 16383}})});
  EXPECT_TRUE(map.moved(7, b));
  EXPECT_FALSE(map.moved(7, b));
  EXPECT_EQ(of(7), b);
  EXPECT_EQ(of(8), a);
  EXPECT_FALSE(learn({master(a, 1, {{0, 99}}), master(b, 2, {{100, 16383}})}))
      << "asked of one who has not heard of it";
  EXPECT_EQ(of(7), b);
  EXPECT_FALSE(learn({master(a, 1, {{0, 6}, {8, 99}}), master(b, 3, {{7, 7}, {100, 16383}})})) << "no news";
  EXPECT_EQ(of(7), b);
}

TEST_F(slot_map_test, moved_to_one_who_was_unknown) {
  learn({master(a, 1, {{0, 16383}})});
  EXPECT_TRUE(map.moved(7, c));
  EXPECT_EQ(of(7), c);
  EXPECT_EQ(map.without_master(), 0U);
}

TEST_F(slot_map_test, counts_the_slots_of_each) {
  learn({master(a, 1, {{0, 99}}), master(b, 2, {{100, 16383}})});
  learn({master(b, 3, {{0, 16383}})});
  learn({master(b, 3, {{0, 16383}})});
  ASSERT_EQ(map.claims().size(), 1U) << "a is forgotten";
  EXPECT_EQ(map.claims()[0].slots, 16384U);
  EXPECT_EQ(of(0), b);
}

}  // namespace
