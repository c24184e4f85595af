// The coordinator and many holds that are given back at once.
#include "runtime/coordinator/coordinator.hpp"
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
    for (const auto& c : all) coordinator.give_back(c->hold, {});
  }
};

// It was: each left at once, and renewals, acquires and the end of the client waited behind all of them.
TEST(coordinator_releases, of_many_holds_at_once_left_all_at_once_before_everything_else) {
  releases_bench b{2};
  const auto all = b.held(5);
  b.drop(all);
  ASSERT_EQ(b.engine.releases.size(), 2u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(b.engine.releases[i].who, all[i]->hold->who()) << "in the order they were given back";
    b.engine.releases[i].answer(fate::holding);
    EXPECT_EQ(b.engine.releases.size(), std::min<std::size_t>(5, i + 3));
  }
  EXPECT_TRUE(b.coordinator.drained());
}

TEST(coordinator_releases, that_wait_go_on_when_those_before_them_fail) {
  releases_bench b{1};
  b.drop(b.held(2));
  b.engine.releases[0].fail(why::not_sent);
  ASSERT_EQ(b.engine.releases.size(), 2u);
  b.engine.releases[1].answer(fate::holding);
  b.pass(1s);
  ASSERT_EQ(b.engine.releases.size(), 3u);
  b.engine.releases[2].answer(fate::holding);
  EXPECT_TRUE(b.coordinator.drained());
}

// Else one attempt would be told that others have what its own client has given back.
TEST(coordinator_releases, are_not_overtaken_by_one_who_asks_for_the_same_name) {
  releases_bench b{1};
  const auto all = b.held(3);
  b.drop(all);
  ASSERT_EQ(b.engine.releases.size(), 1u);
  const auto again = b.want(bench::make_lock("n2", 9s), false);
  EXPECT_EQ(b.engine.acquires.size(), 3u) << "it waits for its turn";
  b.engine.releases[0].answer(fate::holding);
  ASSERT_EQ(b.engine.releases.size(), 2u);
  EXPECT_EQ(b.engine.releases[1].who, all[2]->hold->who()) << "before those whom nobody waits for";
  ASSERT_EQ(b.engine.acquires.size(), 4u) << "right behind it";
  b.engine.releases[1].answer(fate::holding);
  ASSERT_EQ(b.engine.releases.size(), 3u) << "and it is not sent twice";
  EXPECT_EQ(b.engine.releases[2].who, all[1]->hold->who());
  b.engine.acquires[3].grant(2);
  EXPECT_TRUE(again->hold);
}

struct readers_bench : releases_bench {
  using releases_bench::releases_bench;
  std::shared_ptr<runtime::spec> readers = readers_of(*lock);

  std::vector<caller> reading(std::size_t n) {
    std::vector<caller> all;
    for (std::size_t i = 0; i < n; ++i) {
      all.push_back(want(readers));
      engine.acquires.back().grant(i + 1);
    }
    return all;
  }
};

// Went wrong: one who asked for a name sent all of its releases before itself, however many there were, and renewals waited
// behind all of them for longer than a ttl.
TEST(coordinator_releases, of_one_name_left_all_at_once_when_somebody_asked_for_it) {
  readers_bench b{2};
  const auto all = b.reading(9);
  b.drop(all);
  ASSERT_EQ(b.engine.releases.size(), 2u);
  const auto writer = b.want();
  const auto asked = b.engine.acquires.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(b.engine.releases.size(), std::min<std::size_t>(all.size(), i + 2)) << "no more at once than of any";
    EXPECT_EQ(b.engine.releases[i].who, all[i]->hold->who());
    b.engine.releases[i].answer(fate::holding);
    EXPECT_EQ(b.engine.acquires.size(), asked + (i + 3 >= all.size() ? 1 : 0)) << "behind the last of them";
  }
  b.engine.acquires.back().grant(100);
  EXPECT_TRUE(writer->hold);
}

// Went wrong: it waited for thousands of them, and was told that a server that was well did not answer.
TEST(coordinator_releases, of_many_readers_were_waited_for_by_one_who_only_reads) {
  readers_bench b{2};
  b.drop(b.reading(9));
  const auto asked = b.engine.acquires.size();
  const auto reader = b.want(b.readers, false);
  ASSERT_EQ(b.engine.acquires.size(), asked + 1);
  b.engine.acquires.back().fail(why::over_limit);  // those that leave are still counted
  EXPECT_EQ(reader->times, 0);
  b.pass(100ms);
  ASSERT_EQ(b.engine.acquires.size(), asked + 2);
  b.engine.acquires.back().grant(50);
  EXPECT_TRUE(reader->hold);
}

TEST(coordinator_releases, of_readers_let_no_reader_overtake_a_writer_behind_them) {
  readers_bench b{1};
  b.drop(b.reading(3));
  const auto asked = b.engine.acquires.size();
  const auto writer = b.want();
  const auto reader = b.want(b.readers);
  EXPECT_EQ(b.engine.acquires.size(), asked);
  b.engine.releases[0].answer(fate::holding);
  b.engine.releases[1].answer(fate::holding);
  ASSERT_EQ(b.engine.acquires.size(), asked + 2);
  EXPECT_EQ(b.engine.acquires[asked].what.what.how, seam::mode::exclusive);
  EXPECT_EQ(b.engine.acquires[asked + 1].what.what.how, seam::mode::shared);
}

TEST(coordinator_releases, that_no_engine_answers_keep_nobody_waiting_for_longer_than_it_allows) {
  readers_bench b{1};
  b.drop(b.reading(2));
  const auto asked = b.engine.acquires.size();
  const auto try_once = b.try_once();
  b.pass(b.bounds.request_timeout);
  EXPECT_EQ(try_once->why, errc::unavailable);
  const auto waits = b.want(b.lock, true, 300ms);
  b.pass(300ms);
  EXPECT_EQ(waits->why, errc::unavailable);
  EXPECT_EQ(b.engine.acquires.size(), asked) << "nothing was sent, so nothing is taken back";
  b.engine.releases[0].answer(fate::holding);
  b.engine.releases[1].answer(fate::holding);
  EXPECT_TRUE(b.coordinator.drained());
}

TEST(coordinator_releases, that_wait_are_given_up_when_the_engines_own_expiry_has_done_the_rest) {
  releases_bench b{1};
  const auto all = b.held(2);
  b.coordinator.give_back(all[0]->hold, {});
  std::optional<release_outcome> outcome;
  b.coordinator.give_back(all[1]->hold, [&](tyer::failure, release_outcome o) { outcome = o; });
  b.pass(8s);
  EXPECT_FALSE(outcome);
  b.pass(2s);
  EXPECT_EQ(outcome, release_outcome::unknown);
  b.engine.releases[0].answer(fate::holding);
  EXPECT_EQ(b.engine.releases.size(), 1u);
  EXPECT_TRUE(b.coordinator.drained());
}

TEST(coordinator_releases, that_wait_when_the_client_is_closed_go_one_after_the_other) {
  releases_bench b{2};
  const auto all = b.held(4);
  b.coordinator.close();
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_GT(b.engine.releases.size(), i);
    EXPECT_LE(b.engine.releases.size(), i + 2);
    b.engine.releases[i].answer(fate::holding);
  }
  EXPECT_TRUE(b.coordinator.drained());
}

// Went wrong: it was told that the engine was away, which says that nothing was done.
TEST(coordinator_releases, that_may_have_been_done_were_told_as_an_outage) {
  releases_bench b{2};
  const auto one = b.held("n0"), two = b.held("n1");
  tyer::failure unsure, not_sent;
  b.coordinator.give_back(one->hold, [&](tyer::failure f, release_outcome) { unsure = std::move(f); });
  b.coordinator.give_back(two->hold, [&](tyer::failure f, release_outcome) { not_sent = std::move(f); });
  b.engine.releases[0].fail(why::unknown, "no answer");
  for (std::size_t i = 1; b.clock.now() < one->hold->valid_until() + 1s; b.pass(100ms)) {
    for (; i < b.engine.releases.size(); ++i) b.engine.releases[i].fail(why::not_sent, "not connected");
  }
  EXPECT_EQ(unsure.code, errc::outcome_unknown);
  EXPECT_EQ(unsure.words, "not connected");
  EXPECT_EQ(not_sent.code, errc::unavailable);
}

}  // namespace
}  // namespace tyer::testing
