#include "lease/keeper.hpp"

#include "at.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tyer::lease {
namespace {

using core::fate;

TEST(keeper, an_entry_is_due_after_a_third_of_its_ttl_or_a_little_earlier) {
  keeper k{100};
  kept a, b;
  k.add(a, fate::holding, 9s, at(0s), 0);
  EXPECT_EQ(k.next_due(), at(3s));
  k.remove(a);
  k.add(b, fate::holding, 9s, at(0s), 0.999999);
  EXPECT_LT(k.next_due(), at(3s));
  EXPECT_GT(k.next_due(), at(2600ms));
}

TEST(keeper, what_was_proven_for_less_is_due_sooner) {
  keeper k{100};
  kept a, b;
  k.add(a, fate::holding, 9s, at(0s), 0, 6s);
  EXPECT_EQ(k.next_due(), at(2s));
  k.add(b, fate::holding, 9s, at(0s), 0, 90ms);
  EXPECT_EQ(k.next_due(), at(30ms));
  EXPECT_EQ(k.take(at(30ms)).ttl, 9s) << "and asked for as much as ever";
  k.add(b, fate::holding, 9s, at(0s), 0, 20s);
  EXPECT_EQ(k.take(at(2s)).entries, std::vector<kept*>{&a});
  EXPECT_EQ(k.next_due(), at(3s)) << "and never later";
}

TEST(keeper, however_little_is_proven_it_is_not_asked_for_all_the_time) {
  keeper k{100};
  kept a, b;
  k.add(a, fate::holding, 9s, at(0s), 0, 1ns);
  EXPECT_EQ(k.next_due(), at(0s) + renew_least);
  k.remove(a);
  k.add(b, fate::holding, 9s, at(0s), 0, 0s);
  EXPECT_EQ(k.next_due(), at(0s) + renew_retry(9s)) << "as after a failure";
}

TEST(keeper, proofs_that_vary_do_not_make_anybody_late) {
  keeper k{1};
  std::vector<kept> e(500);
  for (std::size_t i = 0; i < e.size(); ++i) {
    k.add(e[i], fate::holding, 9s, at(0s), 0, std::chrono::milliseconds{100 + 17 * (i * 7919 % 500)});
  }
  std::size_t taken = 0;
  for (auto now = at(0s); now < at(4s); now += 1ms) {
    for (auto b = k.take(now); !b.entries.empty(); b = k.take(now), ++taken) {
      const auto proven =
          std::chrono::milliseconds{100 + 17 * (static_cast<std::size_t>(b.entries[0] - e.data()) * 7919 % 500)};
      EXPECT_LE(now, at(0s) + proven / 3 * 8 / 7 + 1ms);
    }
  }
  EXPECT_EQ(taken, e.size());
}

TEST(keeper, gives_nothing_before_it_is_due) {
  keeper k{100};
  kept a;
  k.add(a, fate::holding, 9s, at(0s), 0);
  EXPECT_TRUE(k.take(at(2999ms)).entries.empty());
  const auto b = k.take(at(3s));
  EXPECT_EQ(b.entries, std::vector<kept*>{&a});
  EXPECT_EQ(b.as, fate::holding);
  EXPECT_EQ(b.ttl, 9s);
  EXPECT_EQ(k.size(), 0u);
  EXPECT_EQ(k.next_due(), time_point::max());
}

TEST(keeper, takes_along_what_is_due_soon) {
  keeper k{100};
  std::array<kept, 3> e;
  k.add(e[0], fate::holding, 9s, at(0s), 0);
  k.add(e[1], fate::holding, 9s, at(700ms), 0);
  k.add(e[2], fate::holding, 9s, at(2s), 0);
  EXPECT_EQ(k.take(at(3s)).entries, (std::vector<kept*>{&e[0], &e[1]}));
  EXPECT_EQ(k.next_due(), at(5s));
}

TEST(keeper, a_batch_has_its_limit) {
  keeper k{100};
  std::vector<kept> e(250);
  for (auto& x : e) k.add(x, fate::holding, 9s, at(0s), 0);
  EXPECT_EQ(k.take(at(3s)).entries.size(), 100u);
  EXPECT_EQ(k.take(at(3s)).entries.size(), 100u);
  EXPECT_EQ(k.take(at(3s)).entries.size(), 50u);
  EXPECT_TRUE(k.take(at(3s)).entries.empty());
}

TEST(keeper, ttls_and_kinds_are_not_mixed) {
  keeper k{100};
  kept a, b, c;
  k.add(a, fate::holding, 9s, at(0s), 0);
  k.add(b, fate::holding, 3s, at(0s), 0);
  k.add(c, fate::waiting, 9s, at(0s), 0);
  for (int n = 0; n < 3; ++n) EXPECT_EQ(k.take(at(10s)).entries.size(), 1u);
}

TEST(keeper, a_failed_one_is_due_again_soon) {
  keeper k{100};
  kept a;
  k.retry(a, fate::holding, 10s, at(5s));
  EXPECT_EQ(k.next_due(), at(5s) + renew_retry(10s));
}

TEST(keeper, after_a_reconnect_everything_is_due_at_once) {
  keeper k{100};
  kept a, b, late;
  k.add(a, fate::holding, 9s, at(0s), 0);
  k.add(b, fate::waiting, 3s, at(0s), 0);
  k.hurry_all();
  EXPECT_EQ(k.next_due(), time_point::min());
  k.add(late, fate::holding, 9s, at(0s), 0);
  EXPECT_EQ(k.take(at(0s)).entries, std::vector<kept*>{&a}) << "what came after is not due";
  EXPECT_EQ(k.take(at(0s)).entries, std::vector<kept*>{&b});
  EXPECT_TRUE(k.take(at(0s)).entries.empty());
}

TEST(keeper, one_can_be_hurried_or_removed) {
  keeper k{100};
  kept a, b;
  k.add(a, fate::holding, 9s, at(0s), 0);
  k.add(b, fate::holding, 9s, at(0s), 0);
  k.hurry(b, fate::holding, 9s);
  EXPECT_EQ(k.take(at(0s)).entries, std::vector<kept*>{&b});
  k.remove(a);
  k.remove(a);  // twice does no harm
  EXPECT_EQ(k.size(), 0u);
}

TEST(keeper, a_server_that_hangs_delays_nobody_elses_renewal) {
  keeper k{1, 2};
  std::array<kept, 6> e;
  for (std::size_t i = 0; i < e.size(); ++i) {
    e[i].group = i < 4 ? 1 : 2;
    k.add(e[i], fate::holding, 9s, at(0s), 0);
  }
  for (int n = 0; n < 2; ++n) {
    const auto b = k.take(at(3s));
    EXPECT_EQ(b.group, 1u);
    k.on_sent(b.group);
  }
  EXPECT_EQ(k.take(at(3s)).entries, std::vector<kept*>{&e[4]}) << "the first has as many under way as it may have";
  k.on_sent(2);
  EXPECT_EQ(k.take(at(3s)).entries, std::vector<kept*>{&e[5]});
  k.on_sent(2);
  EXPECT_TRUE(k.take(at(3s)).entries.empty());
  EXPECT_EQ(k.next_due(), time_point::max());
  k.on_answered(1);
  EXPECT_EQ(k.next_due(), at(3s));
  EXPECT_EQ(k.take(at(3s)).entries, std::vector<kept*>{&e[2]});
}

TEST(keeper, groups_are_not_mixed) {
  keeper k{100};
  kept a, b;
  b.group = 7;
  k.add(a, fate::holding, 9s, at(0s), 0);
  k.add(b, fate::holding, 9s, at(0s), 0);
  EXPECT_EQ(k.take(at(3s)).entries, std::vector<kept*>{&a});
  EXPECT_EQ(k.take(at(3s)).group, 7u);
}

// A queue of waiters that is always due was served first, because it was made first: no hold was ever renewed.
TEST(keeper, a_flood_of_waiters_does_not_keep_holds_from_being_renewed) {
  keeper k{100};
  std::vector<kept> waiters(1000);
  for (auto& w : waiters) k.add(w, fate::waiting, 3s, at(0s), 0);
  kept late, later;
  k.add(later, fate::holding, 30s, at(500ms), 0);
  k.add(late, fate::holding, 9s, at(0s), 0);
  EXPECT_EQ(k.take(at(20s)).entries, std::vector<kept*>{&late}) << "holds first, and the one due longest first";
  EXPECT_EQ(k.take(at(20s)).entries, std::vector<kept*>{&later});
  EXPECT_EQ(k.take(at(20s)).entries.size(), 100u);
}

TEST(keeper, after_a_reconnect_holds_go_before_waiters) {
  keeper k{100};
  kept waiter, hold;
  k.add(waiter, fate::waiting, 3s, at(0s), 0);
  k.add(hold, fate::holding, 9s, at(0s), 0);
  k.hurry_all();
  EXPECT_EQ(k.take(at(0s)).entries, std::vector<kept*>{&hold});
  EXPECT_EQ(k.take(at(0s)).entries, std::vector<kept*>{&waiter});
}

TEST(keeper, ttls_that_are_made_up_each_time_leave_nothing_behind) {
  keeper k{100};
  for (int n = 1; n < 1000; ++n) {
    kept a;
    k.add(a, fate::holding, n * 1s, at(0s), 0);
    k.remove(a);
  }
  EXPECT_EQ(k.size(), 0u);
  EXPECT_EQ(k.next_due(), time_point::max());
}

}  // namespace
}  // namespace tyer::lease
