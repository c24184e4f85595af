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
TEST(coordinator_patience, the_kth_caller_of_a_name_was_told_of_an_outage_after_k_times_as_long) {
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
  EXPECT_TRUE(b.coordinator.drained());
}

TEST(coordinator_patience, whoever_comes_during_an_outage_has_all_of_its_own) {
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

TEST(coordinator_patience, counts_from_when_the_silence_began_for_who_was_in_the_queue) {
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

TEST(coordinator_patience, is_whole_again_when_the_engine_has_answered_once) {
  silent_bench b{{.request_timeout = 200ms, .unavailable_after = 1s}};
  auto c = b.want();
  b.be_silent_for(900ms);
  if (b.engine.acquires.back().answered()) b.coordinator.up({});
  b.engine.acquires.back().queue(1, 100ms);
  b.pass(150ms);
  b.be_silent_for(900ms);
  EXPECT_EQ(c->times, 0);
  b.be_silent_for(300ms);
  EXPECT_EQ(c->why.code, errc::unavailable);
}

TEST(coordinator_patience, of_one_with_a_limit_is_that_limit) {
  silent_bench b{{.request_timeout = 200ms, .unavailable_after = 1s}};
  auto forever = b.want();
  auto limited = b.want(b.lock, true, 5s);
  b.be_silent_for(4990ms);
  EXPECT_EQ(forever->why.code, errc::unavailable);
  EXPECT_EQ(limited->times, 0);
  b.be_silent_for(10ms);
  EXPECT_EQ(limited->why.code, errc::unavailable);
}

TEST(coordinator_patience, whoever_is_told_may_call_off_those_who_are_told_with_it) {
  silent_bench b{{.request_timeout = 200ms, .unavailable_after = 1s}};
  auto first = b.want(), second = b.want(), third = b.want();
  auto told = first.answer;
  first.acquisition->done = [&](tyer::failure, hold_ptr) {
    ++told->times;
    b.coordinator.cancel(second.acquisition, errc::cancelled);
  };
  b.be_silent_for(1100ms);
  EXPECT_EQ(first->times, 1);
  EXPECT_EQ(second->times, 1);
  EXPECT_EQ(third->times, 1);
  EXPECT_TRUE(b.coordinator.drained());
}

// Went wrong: what began when the try was told had forgotten the silence, and those behind it bore it from then on.
TEST(coordinator_patience, behind_one_attempt_began_only_when_that_was_told) {
  silent_bench b{{.request_timeout = 1s, .unavailable_after = 2s}};
  b.coordinator.up({});
  const auto attempt = b.try_once();
  const auto waits = b.want();
  b.clock.move(1s);
  b.engine.acquires[0].fail(why::unknown, "did not answer");
  EXPECT_EQ(attempt->why.code, errc::unavailable);
  b.be_silent_for(990ms);
  EXPECT_EQ(waits->times, 0);
  b.be_silent_for(20ms);
  EXPECT_EQ(waits->why.code, errc::unavailable);
}

TEST(coordinator_patience, is_not_used_up_by_what_the_engine_has_refused) {
  silent_bench b{{.request_timeout = 1s, .unavailable_after = 2s}};
  b.coordinator.up({});
  const auto first = b.want(), second = b.want();
  b.engine.acquires[0].fail(why::refused, "no");
  EXPECT_EQ(first->why.code, errc::refused);
  b.be_silent_for(1990ms);
  EXPECT_EQ(second->times, 0);
}

// Went wrong: a client that was made a moment ago has no connection yet, so that every acquire failed at once.
TEST(coordinator_patience, of_none_left_no_time_to_connect) {
  silent_bench b{{.request_timeout = 2s, .unavailable_after = 0ms}};
  const auto fresh = b.want();
  b.be_silent_for(1900ms);
  EXPECT_EQ(fresh->times, 0);
  b.coordinator.up({});
  b.engine.acquires.back().grant(1);
  EXPECT_TRUE(fresh->hold);

  const auto later = b.want(bench::make_lock("other", 9s));
  b.be_silent_for(10ms);
  EXPECT_EQ(later->why.code, errc::unavailable) << "it has been there: none is none";
}

TEST(coordinator_patience, of_none_ends_when_an_engine_was_never_there) {
  silent_bench b{{.request_timeout = 2s, .unavailable_after = 0ms}};
  const auto fresh = b.want();
  b.be_silent_for(2010ms);
  EXPECT_EQ(fresh->why.code, errc::unavailable);
}

// ---- an outage is no contention

// Went wrong: the other caller's request had no answer yet, so there were no words of the engine's to give back, and an empty
// hold without any means that others have the lock.
TEST(coordinator_patience, a_try_beside_one_who_still_asks_was_told_that_others_have_the_lock) {
  bench b;
  auto first = b.want(b.lock, true, 3s);
  auto tries = b.try_once();
  EXPECT_EQ(tries->times, 0) << "nobody knows yet";
  b.pass(1999ms);
  EXPECT_EQ(tries->times, 0);
  b.pass(1ms);
  ASSERT_EQ(tries->times, 1);
  EXPECT_EQ(tries->why.code, errc::unavailable);
  EXPECT_NE(tries->why.words.find("2000 ms"), std::string::npos) << tries->why.words;
  EXPECT_EQ(first->times, 0);
}

TEST(coordinator_patience, a_try_beside_one_who_still_asks_is_refused_when_the_engine_has_answered) {
  bench b;
  auto first = b.want();
  auto tries = b.try_once();
  b.engine.acquires[0].queue(0, 1s);
  ASSERT_EQ(tries->times, 1);
  EXPECT_FALSE(tries->why);
  EXPECT_FALSE(tries->hold);
  auto at_once = b.try_once();
  EXPECT_EQ(at_once->times, 1) << "it is known now";
  EXPECT_FALSE(at_once->why);
  EXPECT_EQ(b.engine.acquires.size(), 1u);
}

TEST(coordinator_patience, a_try_beside_one_who_is_granted_the_lock_is_refused) {
  bench b;
  auto first = b.want();
  auto tries = b.try_once(), another = b.try_once();
  auto waits = b.want();
  b.engine.acquires[0].grant(1);
  EXPECT_TRUE(first->hold);
  for (const auto& c : {tries, another}) {
    EXPECT_EQ(c->times, 1);
    EXPECT_FALSE(c->why);
    EXPECT_FALSE(c->hold);
  }
  EXPECT_EQ(waits->times, 0);
  EXPECT_EQ(b.engine.acquires.size(), 1u);
}

TEST(coordinator_patience, tries_side_by_side_have_one_answer) {
  bench b;
  auto first = b.try_once(), second = b.try_once();
  auto waits = b.want();
  b.engine.acquires[0].busy(1s);
  EXPECT_EQ(first->times, 1);
  EXPECT_EQ(second->times, 1);
  EXPECT_FALSE(second->why);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  EXPECT_TRUE(b.engine.acquires[1].what.enqueue);
  b.engine.acquires[1].grant(1);
  EXPECT_TRUE(waits->hold);
}

// Went wrong: that the engine had answered the request before was still believed of the next one.
TEST(coordinator_patience, a_wait_behind_one_who_gave_back_to_a_silent_engine_was_told_that_others_have_the_lock) {
  bench b;
  auto mine = b.held();
  auto waits = b.want(b.lock, true, 1500ms);
  b.pass(100ms);
  b.coordinator.give_back(mine->hold, {});
  b.pass(1400ms);
  ASSERT_EQ(waits->times, 1);
  EXPECT_EQ(waits->why.code, errc::unavailable);
}

TEST(coordinator_patience, behind_a_hold_that_was_upgraded_it_is_contention) {
  bench b;
  auto reader = b.want(bench::readers_of(*b.lock));
  b.engine.acquires[0].grant(1);
  auto upgrade = b.convert(reader->hold, b.lock);
  b.engine.converts[0].grant(2);
  ASSERT_TRUE(upgrade->yes);
  auto tries = b.try_once();
  EXPECT_EQ(tries->times, 1);
  EXPECT_FALSE(tries->why);
  auto waits = b.want(b.lock, true, 100ms);
  b.pass(100ms);
  EXPECT_EQ(waits->times, 1);
  EXPECT_FALSE(waits->why);
}

// The lock was with others until a moment ago, and the answer is on its way: no outage.
TEST(coordinator_patience, a_limit_that_passes_while_the_lock_changes_hands_is_contention) {
  bench b;
  auto mine = b.held();
  auto waits = b.want(b.lock, true, 1500ms);
  b.pass(1490ms);
  b.coordinator.give_back(mine->hold, {});
  b.pass(10ms);
  ASSERT_EQ(waits->times, 1);
  EXPECT_FALSE(waits->why) << waits->why.words;
}

// ---- what is said

// Went wrong: "the engine does not answer; check that it runs".
TEST(coordinator_patience, a_limit_shorter_than_a_request_takes_was_blamed_on_the_engine) {
  bench b;
  auto c = b.want(b.lock, true, 20us);
  b.pass(1ms);
  ASSERT_EQ(c->times, 1);
  EXPECT_EQ(c->why.code, errc::unavailable);
  EXPECT_NE(c->why.words.find("within the caller's own limit of 20 us"), std::string::npos) << c->why.words;
  EXPECT_EQ(c->why.code.message().find("does not answer"), std::string::npos) << c->why.code.message();
}

}  // namespace
}  // namespace tyer::testing
