// How long each caller bears an engine that does not answer, and what it is told then: an outage is an error, and only what an
// engine has said is contention.
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

// Time goes on, and every request so far is answered with a failure.
struct silent_bench : bench {
  explicit silent_bench(runtime::limits l = {}) : bench(l) {}

  void fail_all() {
    for (std::size_t i = 0; i < engine.acquires.size(); ++i) {
      if (!engine.acquires[i].answered()) engine.acquires[i].fail(why::not_sent, "connection refused");
    }
  }
  void be_silent_for(lease::duration d) {
    for (const auto end = clock.now() + d; clock.now() < end;) {
      fail_all();
      pass(std::min<lease::duration>(10ms, end - clock.now()));
    }
  }
};

// ---- the patience of each caller

// Went wrong: only the first was told, and the next had a patience of its own from then on: the k-th waited k times as long.
TEST(desk_patience, the_kth_caller_of_a_name_was_told_of_an_outage_after_k_times_as_long) {
  silent_bench b{{.request_timeout = 200ms, .unavailable_after = 1s}};
  std::vector<bench::caller> all;
  for (int i = 0; i < 8; ++i) {
    all.push_back(b.want());
    b.be_silent_for(10ms);
  }
  b.be_silent_for(1s - 80ms - 10ms);
  for (const auto& c : all) EXPECT_EQ(c->times, 0);
  b.be_silent_for(10ms + 80ms + 10ms);
  for (const auto& c : all) {
    EXPECT_EQ(c->times, 1);
    EXPECT_EQ(c->why.code, errc::unavailable);
    EXPECT_EQ(c->why.words, "connection refused");
  }
  EXPECT_TRUE(b.desk.drained());
}

TEST(desk_patience, whoever_comes_during_an_outage_has_all_of_its_own) {
  silent_bench b{{.request_timeout = 200ms, .unavailable_after = 1s}};
  auto first = b.want();
  b.be_silent_for(900ms);
  auto second = b.want();
  b.be_silent_for(110ms);
  EXPECT_EQ(first->times, 1);
  EXPECT_EQ(second->times, 0);
  b.be_silent_for(880ms);
  EXPECT_EQ(second->times, 0);
  b.be_silent_for(20ms);
  EXPECT_EQ(second->why.code, errc::unavailable);
}

TEST(desk_patience, counts_from_when_the_silence_began_for_who_was_in_the_queue) {
  silent_bench b{{.request_timeout = 2s, .unavailable_after = 10s}};
  auto first = b.want(), second = b.want();
  b.engine.acquires[0].queue(1, 1s);
  for (int i = 0; i < 60; ++i) {
    b.pass(1s);
    b.answer_keeps();
    if (!b.engine.acquires.back().answered()) b.engine.acquires.back().queue(1, 1s);
  }
  EXPECT_EQ(first->times, 0);
  const auto began = b.clock.now();
  while (first->times == 0 && b.clock.now() - began < 30s) {
    b.pass(10ms);
    for (auto& k : b.engine.keeps) {
      if (!k.answered() && b.clock.now() - k.sent >= 2s) k.fail(why::unknown, "no answer");
    }
    for (auto& a : b.engine.acquires) {
      if (!a.answered() && b.clock.now() - a.sent >= 2s) a.fail(why::unknown, "no answer");
    }
  }
  EXPECT_GE(b.clock.now() - began, 10s);
  EXPECT_LE(b.clock.now() - began, 12s);
  EXPECT_EQ(first->why.code, errc::unavailable);
  EXPECT_EQ(second->times, 1) << "in one go";
}

TEST(desk_patience, is_whole_again_when_the_engine_has_answered_once) {
  silent_bench b{{.request_timeout = 200ms, .unavailable_after = 1s}};
  auto c = b.want();
  b.be_silent_for(900ms);
  if (b.engine.acquires.back().answered()) b.desk.up({});
  b.engine.acquires.back().queue(1, 100ms);
  b.pass(150ms);
  b.be_silent_for(900ms);
  EXPECT_EQ(c->times, 0);
  b.be_silent_for(300ms);
  EXPECT_EQ(c->why.code, errc::unavailable);
}

TEST(desk_patience, of_one_with_a_limit_is_that_limit) {
  silent_bench b{{.request_timeout = 200ms, .unavailable_after = 1s}};
  auto forever = b.want();
  auto limited = b.want(b.lock, true, 5s);
  b.be_silent_for(4990ms);
  EXPECT_EQ(forever->why.code, errc::unavailable);
  EXPECT_EQ(limited->times, 0);
  b.be_silent_for(10ms);
  EXPECT_EQ(limited->why.code, errc::unavailable);
}

TEST(desk_patience, whoever_is_told_may_call_off_those_who_are_told_with_it) {
  silent_bench b{{.request_timeout = 200ms, .unavailable_after = 1s}};
  auto first = b.want(), second = b.want(), third = b.want();
  auto told = first.answer;
  first.wish->done = [&](tyer::failure, hold_ptr) {
    ++told->times;
    b.desk.cancel(second.wish, errc::cancelled);
  };
  b.be_silent_for(1100ms);
  EXPECT_EQ(first->times, 1);
  EXPECT_EQ(second->times, 1);
  EXPECT_EQ(third->times, 1);
  EXPECT_TRUE(b.desk.drained());
}

}  // namespace
}  // namespace tyer::testing
