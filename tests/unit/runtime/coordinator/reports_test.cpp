// What is reported of a wait that takes long, when the engine says who has the lock.
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

}  // namespace
}  // namespace tyer::testing
