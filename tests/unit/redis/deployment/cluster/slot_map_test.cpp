#include "engines/redis/deployment/cluster/slot_map.hpp"

#include "sanitized.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace {

using namespace tyer::redis;
using tyer::core::endpoint;

using namespace std::chrono_literals;

const endpoint a{"a", 1}, b{"b", 1}, c{"c", 1}, somebody{"d", 1}, somebody_else{"e", 1};

node master(const endpoint& at, std::uint64_t epoch, std::vector<slot_run> slots) {
  return {at, at.host, true, epoch, std::move(slots)};
}

struct slot_map_test : testing::Test {
  bool learn(const std::vector<node>& nodes, const endpoint& teller = somebody) {
    return map.learn(nodes, teller, now, [this](const endpoint& e) { return e == lost; });
  }
  // As a master would: only whoever has the slot is asked for it.
  void says_moved(std::uint16_t slot, const endpoint& by, const endpoint& to) {
    if (of(slot) == by) map.moved(slot, to);
  }
  endpoint of(std::uint16_t slot) const {
    const auto n = map.owner(slot);
    return n == slot_map::nobody ? endpoint{} : map.claims()[n].master;
  }
  slot_map map;
  endpoint lost;
  tyer::engine::time_point now{1h};
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

TEST_F(slot_map_test, who_is_given_up_is_not_replaced_by_what_one_who_was_cut_off_says) {
  learn({master(a, 9, {{0, 99}})});
  learn({master(a, 9, {{0, 99}})}, somebody_else);
  lost = a;
  EXPECT_FALSE(learn({master(b, 1, {{0, 99}})}, c)) << "two of three say something else";
  EXPECT_EQ(of(7), a);
  EXPECT_TRUE(learn({master(b, 1, {{0, 99}})})) << "now two of three say so: the cluster was set up anew";
  EXPECT_EQ(of(7), b);
}

TEST_F(slot_map_test, who_is_given_up_can_be_replaced_by_anybody_where_nobody_else_has_told_lately) {
  learn({master(a, 9, {{0, 99}})});
  learn({master(a, 9, {{0, 99}})}, somebody_else);
  lost = a;
  now += slot_map::lately + 1ms;
  EXPECT_TRUE(learn({master(b, 1, {{0, 99}})}));
  EXPECT_EQ(of(7), b);
}

TEST_F(slot_map_test, a_master_itself_knows_best_who_has_its_slots) {
  learn({master(a, 9, {{0, 99}}), master(b, 10, {{100, 199}})});
  EXPECT_FALSE(learn({master(b, 1, {{0, 199}})})) << "somebody says so";
  EXPECT_TRUE(learn({master(b, 1, {{0, 99}})}, a)) << "the cluster was set up anew, and a was there all the time";
  EXPECT_EQ(of(7), b);
  EXPECT_FALSE(learn({master(a, 9, {{0, 99}})})) << "old";
  learn({master(b, 1, {{0, 199}})}, b);
  EXPECT_TRUE(learn({master(c, 2, {{0, 199}})})) << "the next failover, counted from the new beginning";
  EXPECT_EQ(of(7), c);
}

// The slot was given to b at a only: each sends us to the other, as often as somebody asks.
TEST_F(slot_map_test, a_failover_is_believed_after_two_masters_have_sent_us_to_and_fro) {
  learn({master(a, 1, {{0, 99}}), master(b, 2, {{100, 16383}})});
  for (int i = 0; i < 20; ++i) {
    says_moved(7, a, b);
    says_moved(7, b, a);
  }
  says_moved(7, a, b);
  EXPECT_EQ(of(7), b);
  learn({master(a, 1, {{0, 6}, {8, 99}}), master(b, 3, {{7, 7}, {100, 16383}})}, b);
  EXPECT_TRUE(learn({master(a, 1, {{0, 6}, {8, 99}}), master(c, 4, {{7, 7}, {100, 16383}})}));
  EXPECT_EQ(of(7), c);
  EXPECT_EQ(of(100), c);
}

TEST_F(slot_map_test, whoever_took_the_slot_last_has_it_in_whatever_order_we_are_told) {
  const std::vector<node> first{master(a, 1, {{0, 99}}), master(b, 2, {{100, 16383}})};
  const std::vector<node> then_b{master(a, 1, {{0, 6}, {8, 99}}), master(b, 3, {{7, 7}, {100, 16383}})};
  const std::vector<node> then_c{master(a, 1, {{0, 6}, {8, 99}}), master(c, 4, {{7, 7}, {100, 16383}})};
  const std::vector<std::function<void()>> answers{[&] { learn(first, somebody); }, [&] { learn(first, a); },
                                                   [&] { learn(first, b); },        [&] { learn(then_b, b); },
                                                   [&] { says_moved(7, a, b); },    [&] { says_moved(7, b, a); },
                                                   [&] { learn(then_c, c); }};
  std::vector<std::size_t> order(answers.size());
  std::iota(order.begin(), order.end(), 0U);
  // A sanitizer makes them slow, and has seen it all in some of them.
  constexpr int every = tyer::test::under_asan || tyer::test::under_tsan ? 11 : 1;
  int n = 0;
  do {
    if (n++ % every != 0) continue;
    map = {};
    learn(first);
    bool told = false;
    for (const auto i : order) {
      answers[i]();
      told = told || i == 6;
      if (told) {
        ASSERT_EQ(of(7), c) << testing::PrintToString(order);
      }
      ASSERT_EQ(of(8), a);
      for (const auto& claim : map.claims()) ASSERT_LE(claim.epoch, 4U) << "no epoch is made up";
    }
  } while (std::next_permutation(order.begin(), order.end()));
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
