// Whether a hold stands now, by what the engine says and by nothing else.
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace tyer::testing {
namespace {

struct confirming : ::testing::Test {
  bench b;
  bench::caller c = b.held();

  std::shared_ptr<changed> confirm() {
    auto a = std::make_shared<changed>();
    b.coordinator.confirm(c->hold, [a](tyer::failure f, bool yes) {
      ++a->times;
      a->why = std::move(f);
      a->yes = yes;
    });
    return a;
  }
};

TEST_F(confirming, asks_for_one_renewal_out_of_turn_and_leaves_the_turn_as_it_was) {
  b.pass(1s);
  const auto before = c->hold->valid_until();
  const auto a = confirm();
  ASSERT_EQ(b.engine.keeps.size(), 1u);
  EXPECT_EQ(b.engine.keeps[0].who.size(), 1u);
  b.pass(100ms);
  b.engine.keeps[0].answer({fate::holding});
  EXPECT_TRUE(a->yes && !a->why && a->times == 1);
  EXPECT_EQ(c->hold->valid_until() - before, 1s) << "counted from sending";
  EXPECT_TRUE(b.engine.shows.empty());
  b.pass(2s);
  EXPECT_EQ(b.engine.keeps.size(), 2u) << "renewed as ever";
}

TEST_F(confirming, of_one_that_the_engine_has_no_more_loses_it) {
  const auto a = confirm();
  b.engine.keeps[0].answer({fate::gone});
  EXPECT_TRUE(!a->yes && !a->why && a->times == 1);
  EXPECT_EQ(c->hold->where(), phase::lost);
  EXPECT_EQ(b.watcher.told.size(), 1u);
}

TEST_F(confirming, an_answer_that_says_nothing_is_an_error_and_changes_nothing) {
  const auto until = c->hold->valid_until();
  const auto failed = confirm(), unknown = confirm();
  b.engine.keeps[0].fail(why::unknown, "no answer");
  b.engine.keeps[1].answer({fate::unknown});
  EXPECT_EQ(failed->why, errc::unavailable);
  EXPECT_EQ(unknown->why, errc::outcome_unknown);
  EXPECT_EQ(c->hold->where(), phase::held);
  EXPECT_EQ(c->hold->valid_until(), until);
}

// An engine may answer keep() by an earlier request. That is enough for a renewal, and not for a question about now.
TEST_F(confirming, an_answer_that_is_older_than_the_question_is_not_taken_for_one) {
  b.pass(1s);
  const auto a = confirm();
  b.engine.keeps[0].sent -= 500ms;
  b.engine.keeps[0].answer({fate::holding});
  EXPECT_TRUE(!a->yes && a->times == 1);
  EXPECT_EQ(a->why, errc::outcome_unknown);
  EXPECT_EQ(c->hold->where(), phase::held);
}

// It was: true, while another process had the lock. A process that is stopped while the answer is on its way finds the answer
// before it finds that its time is over.
TEST_F(confirming, an_answer_that_came_after_the_deadline_was_told_as_true) {
  const auto answered = confirm(), failed = confirm();
  b.clock.move(c->hold->valid_until() - b.clock.now() + 1ms);
  b.engine.keeps[0].answer({fate::holding});
  EXPECT_TRUE(!answered->yes && !answered->why && answered->times == 1);
  if (b.engine.keeps.size() > 1) b.engine.keeps[1].fail(why::unknown, "no answer");
  EXPECT_TRUE(!failed->yes && !failed->why) << "that it is over is known";
}

// ---- how many ask

// It was: each was a request of its own, and a flood of them delayed the renewals of all other holds.
TEST_F(confirming, of_one_hold_one_question_is_under_way_and_all_who_ask_meanwhile_share_the_next) {
  const auto first = confirm();
  std::vector<std::shared_ptr<changed>> later;
  for (int i = 0; i < 1000; ++i) later.push_back(confirm());
  ASSERT_EQ(b.engine.keeps.size(), 1u);
  b.engine.keeps[0].answer({fate::holding});
  EXPECT_TRUE(first->yes);
  EXPECT_EQ(later[0]->times, 0) << "asked after that one had left";
  ASSERT_EQ(b.engine.keeps.size(), 2u);
  b.engine.keeps[1].answer({fate::holding});
  for (const auto& a : later) EXPECT_TRUE(a->yes && a->times == 1);
  EXPECT_EQ(b.engine.keeps.size(), 2u);
}

TEST(confirming_many, stand_behind_the_bound_of_requests_under_way) {
  runtime::limits l;
  l.asks_in_flight_max = 2;
  bench b{l};
  std::vector<bench::caller> all;
  for (int i = 0; i < 5; ++i) {
    all.push_back(b.want(bench::make_lock("order/" + std::to_string(i), 9s)));
    b.engine.acquires.back().grant(100);
  }
  int yes = 0;
  for (const auto& c : all) b.coordinator.confirm(c->hold, [&](tyer::failure, bool stands) { yes += stands ? 1 : 0; });
  EXPECT_EQ(b.engine.keeps.size(), 2u);
  const auto other = b.want(bench::make_lock("another", 9s));
  EXPECT_EQ(b.engine.acquires.size(), 5u) << "in line behind them";
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_LT(i, b.engine.keeps.size());
    b.engine.keeps[i].answer({fate::holding});
  }
  EXPECT_EQ(yes, 5);
  EXPECT_EQ(b.engine.acquires.size(), 6u);
}

// ---- how long it takes

TEST_F(confirming, who_asks_behind_a_silent_request_is_told_within_its_own_time) {
  const auto first = confirm();
  b.pass(1s);
  const auto second = confirm();
  b.pass(1s - 1ms);
  b.engine.keeps[0].fail(why::unknown, "no answer");
  EXPECT_EQ(first->why, errc::unavailable);
  ASSERT_EQ(b.engine.keeps.size(), 2u);
  b.pass(1s - 1ms);
  EXPECT_EQ(second->times, 0);
  b.pass(2ms);
  EXPECT_EQ(second->why, errc::unavailable);
  const auto third = confirm();
  b.engine.keeps[1].answer({fate::holding});
  EXPECT_TRUE(!second->yes && second->times == 1);
  b.engine.keeps.back().answer({fate::holding});
  EXPECT_TRUE(third->yes);
}

// It was: what could not be sent was sent once more just before its time was over, and then had as much time again.
TEST_F(confirming, what_was_sent_only_after_a_while_is_over_within_request_timeout_all_the_same) {
  const auto a = confirm();
  const auto begun = b.clock.now();
  for (std::size_t i = 0; b.clock.now() - begun < 1500ms; ++i) {
    b.engine.keeps[i].fail(why::not_sent, "not there");
    while (b.engine.keeps.size() == i + 1 && a->times == 0) b.pass(1ms);
    ASSERT_EQ(a->times, 0);
  }
  b.pass(begun + 2s - b.clock.now());
  EXPECT_EQ(a->times, 1);
  EXPECT_EQ(a->why, errc::unavailable);
}

TEST_F(confirming, what_is_shown_is_over_within_request_timeout_however_late_it_was_sent) {
  int told = 0;
  b.coordinator.ask_engine(runtime::queries::show("order"), [&](auto&&) { ++told; });
  const auto begun = b.clock.now();
  for (std::size_t i = 0; b.clock.now() - begun < 1500ms; ++i) {
    b.engine.shows[i].fail(why::not_sent, "not there");
    while (b.engine.shows.size() == i + 1 && told == 0) b.pass(1ms);
    ASSERT_EQ(told, 0);
  }
  b.pass(begun + 2s - b.clock.now());
  EXPECT_EQ(told, 1);
  b.engine.shows.back().answer({});
  EXPECT_EQ(told, 1);
}

// ---- what ends meanwhile

TEST_F(confirming, one_that_was_given_back_meanwhile_is_over) {
  const auto a = confirm();
  b.give_back(c);
  b.engine.keeps[0].answer({fate::holding});
  EXPECT_TRUE(!a->yes && !a->why && a->times == 1);
  const auto again = confirm();
  EXPECT_TRUE(!again->yes && !again->why && again->times == 1);
  EXPECT_EQ(b.engine.keeps.size(), 1u);
}

TEST_F(confirming, a_client_that_is_closed_meanwhile_has_given_it_back) {
  const auto a = confirm();
  b.coordinator.close();
  EXPECT_TRUE(!a->yes && !a->why && a->times == 1);
  b.engine.keeps[0].answer({fate::holding});
  EXPECT_EQ(a->times, 1);
  const auto late = confirm();
  EXPECT_TRUE(!late->yes && !late->why && late->times == 1);
}

TEST_F(confirming, an_engine_that_drops_its_answer_leaves_nobody_waiting) {
  auto gone = std::make_shared<int>(0);
  b.coordinator.confirm(c->hold, [gone](tyer::failure, bool) {});
  b.engine.keeps[0].then = nullptr;
  EXPECT_EQ(gone.use_count(), 1);
}

}  // namespace
}  // namespace tyer::testing
