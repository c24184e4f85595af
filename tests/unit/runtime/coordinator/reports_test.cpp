// What is reported of a wait that takes long, when the engine says who has the lock; and of a loss.
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tyer::testing {
namespace {

struct slow_wait : ::testing::Test {
  std::vector<runtime::event> heard;
  bench b;
  bench::caller waits;

  // It has waited for as long as makes a wait slow, and the engine is asked who has the lock.
  void SetUp() override {
    b.coordinator.report_to([this](runtime::event&& e) { heard.push_back(std::move(e)); }, 1s);
    waits = b.want();
    b.engine.acquires.back().queue(1, 5s);
    b.pass(1s);
    ASSERT_EQ(b.engine.shows.size(), 1u);
  }
  void is_held_by(const id& who) { b.engine.shows.back().answer({{{.who = who, .name = "order"}}, {}}); }
};

TEST_F(slow_wait, for_somebody_else_names_them) {
  is_held_by(b.ids.next());
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].kind, event_kind::slow_wait);
  EXPECT_EQ(heard[0].holders.size(), 1u);
}

TEST_F(slow_wait, that_was_over_when_the_engine_was_asked_named_the_one_who_waits_as_holder) {
  is_held_by(b.engine.acquires.back().what.what.who);
  EXPECT_TRUE(heard.empty());
}

struct loss : ::testing::Test {
  std::vector<runtime::event> heard;
  bench b;
  bench::caller held;

  void SetUp() override {
    b.coordinator.report_to([this](runtime::event&& e) { heard.push_back(std::move(e)); }, 0s);
    held = b.held();
  }
  void fail_until_it_is_lost(why kind, const char* words) {
    for (int i = 0; i < 200 && heard.empty(); ++i) {
      b.pass(100ms);
      for (std::size_t k = 0; k < b.engine.keeps.size(); ++k) {
        if (!b.engine.keeps[k].answered()) b.engine.keeps[k].fail(kind, words);
      }
    }
    ASSERT_EQ(heard.size(), 1u);
    EXPECT_EQ(heard[0].reason, loss_reason::deadline);
  }
};

// The engine is there, and nobody else says why.
TEST_F(loss, by_a_refusal_was_told_as_by_an_engine_that_is_away) {
  fail_until_it_is_lost(why::refused, "NOPERM");
  EXPECT_EQ(heard[0].words, "NOPERM");
}

TEST_F(loss, long_after_a_refusal_is_not_told_as_one) {
  b.pass(3s);
  b.engine.keeps.back().fail(why::refused, "NOPERM");
  b.pass(1s);
  b.answer_keeps();
  fail_until_it_is_lost(why::not_sent, "connection refused");
  EXPECT_EQ(heard[0].words, "");
}

}  // namespace
}  // namespace tyer::testing
