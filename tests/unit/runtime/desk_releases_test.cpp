// The desk and many holds that are given back at once.
#include "runtime/desk.hpp"
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

struct releases_bench : bench {
  explicit releases_bench(std::size_t at_once) : bench({.releases_in_flight_max = at_once}) {}

  caller held(const std::string& name) {
    caller c = want(make_lock(name, 9s));
    engine.acquires.back().grant(1);
    return c;
  }
  std::vector<caller> held(int n) {
    std::vector<caller> all;
    for (int i = 0; i < n; ++i) all.push_back(held("n" + std::to_string(i)));
    return all;
  }
  void drop(const std::vector<caller>& all) {
    for (const auto& c : all) desk.give_back(c->hold, {});
  }
};

// It was: each left at once, and renewals, acquires and the end of the client waited behind all of them.
TEST(desk_releases, of_many_holds_at_once_left_all_at_once_before_everything_else) {
  releases_bench b{2};
  const auto all = b.held(5);
  b.drop(all);
  ASSERT_EQ(b.engine.releases.size(), 2u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(b.engine.releases[i].who, all[i]->hold->who()) << "in the order they were given back";
    b.engine.releases[i].answer(fate::holding);
    EXPECT_EQ(b.engine.releases.size(), std::min<std::size_t>(5, i + 3));
  }
  EXPECT_TRUE(b.desk.drained());
}

TEST(desk_releases, that_wait_go_on_when_those_before_them_fail) {
  releases_bench b{1};
  b.drop(b.held(2));
  b.engine.releases[0].fail(why::not_sent);
  ASSERT_EQ(b.engine.releases.size(), 2u);
  b.engine.releases[1].answer(fate::holding);
  b.pass(1s);
  ASSERT_EQ(b.engine.releases.size(), 3u);
  b.engine.releases[2].answer(fate::holding);
  EXPECT_TRUE(b.desk.drained());
}

// Else one attempt would be told that others have what its own client has given back.
TEST(desk_releases, are_not_overtaken_by_one_who_asks_for_the_same_name) {
  releases_bench b{1};
  const auto all = b.held(3);
  b.drop(all);
  ASSERT_EQ(b.engine.releases.size(), 1u);
  const auto again = b.want(bench::make_lock("n2", 9s), false);
  ASSERT_EQ(b.engine.releases.size(), 2u);
  EXPECT_EQ(b.engine.releases[1].who, all[2]->hold->who());
  b.engine.releases[0].answer(fate::holding);
  b.engine.releases[1].answer(fate::holding);
  ASSERT_EQ(b.engine.releases.size(), 3u) << "and it is not sent twice";
  EXPECT_EQ(b.engine.releases[2].who, all[1]->hold->who());
}

TEST(desk_releases, that_wait_are_given_up_when_the_engines_own_expiry_has_done_the_rest) {
  releases_bench b{1};
  const auto all = b.held(2);
  b.desk.give_back(all[0]->hold, {});
  std::optional<release_outcome> outcome;
  b.desk.give_back(all[1]->hold, [&](tyer::failure, release_outcome o) { outcome = o; });
  b.pass(8s);
  EXPECT_FALSE(outcome);
  b.pass(2s);
  EXPECT_EQ(outcome, release_outcome::unknown);
  b.engine.releases[0].answer(fate::holding);
  EXPECT_EQ(b.engine.releases.size(), 1u);
  EXPECT_TRUE(b.desk.drained());
}

TEST(desk_releases, that_wait_when_the_client_is_closed_go_one_after_the_other) {
  releases_bench b{2};
  const auto all = b.held(4);
  b.desk.close();
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_GT(b.engine.releases.size(), i);
    EXPECT_LE(b.engine.releases.size(), i + 2);
    b.engine.releases[i].answer(fate::holding);
  }
  EXPECT_TRUE(b.desk.drained());
}

}  // namespace
}  // namespace tyer::testing
