// Whether a hold stands now, by what the engine says and by nothing else.
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

struct confirming : ::testing::Test {
  bench b;
  bench::caller c = b.held();

  std::shared_ptr<changed> confirm() {
    auto a = std::make_shared<changed>();
    b.desk.confirm(c->hold, [a](tyer::failure f, bool yes) {
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
  EXPECT_EQ(a->times, 0);
  ASSERT_EQ(b.engine.shows.size(), 1u);
  seam::entry mine;
  mine.who = b.engine.keeps[0].who[0];
  mine.what = fate::holding;
  b.engine.shows[0].answer({{mine}, {}});
  EXPECT_TRUE(a->yes && !a->why && a->times == 1);

  const auto gone = confirm();
  b.engine.keeps[1].sent -= 500ms;
  b.engine.keeps[1].answer({fate::holding});
  b.engine.shows[1].answer({});
  EXPECT_TRUE(!gone->yes && !gone->why && gone->times == 1);
  EXPECT_EQ(c->hold->where(), phase::lost);
}

TEST_F(confirming, a_list_that_goes_on_says_nothing_of_who_is_not_on_it) {
  b.pass(1s);
  const auto a = confirm();
  b.engine.keeps[0].sent -= 500ms;
  b.engine.keeps[0].answer({fate::holding});
  b.engine.shows[0].answer({{}, "more"});
  EXPECT_EQ(a->why, errc::outcome_unknown);
  EXPECT_EQ(c->hold->where(), phase::held);
}

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
  b.desk.close();
  EXPECT_TRUE(!a->yes && !a->why && a->times == 1);
  b.engine.keeps[0].answer({fate::holding});
  EXPECT_EQ(a->times, 1);
  const auto late = confirm();
  EXPECT_TRUE(!late->yes && !late->why && late->times == 1);
}

TEST_F(confirming, an_engine_that_drops_its_answer_leaves_nobody_waiting) {
  auto gone = std::make_shared<int>(0);
  b.desk.confirm(c->hold, [gone](tyer::failure, bool) {});
  b.engine.keeps[0].then = nullptr;
  EXPECT_EQ(gone.use_count(), 1);
}

}  // namespace
}  // namespace tyer::testing
