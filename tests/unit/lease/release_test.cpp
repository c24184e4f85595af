#include "lease/release.hpp"

#include "at.hpp"

#include <gtest/gtest.h>

namespace tyer::lease {
namespace {

using core::fate;
using core::why;
using verb = release::verb;
using outcome = release::outcome;

release of_a_hold() {
  release r{time_point::min(), at(10s)};
  EXPECT_EQ(r.start(), verb::send);
  return r;
}

// Of an attempt whose request may be executed until 4 s.
release of_an_attempt() {
  release r{at(4s), at(14s)};
  EXPECT_EQ(r.start(), verb::send);
  return r;
}

TEST(release, is_done_when_the_engine_says_so) {
  release r = of_a_hold();
  EXPECT_EQ(r.on_answer(at(0s), fate::holding), verb::done);
  EXPECT_EQ(r.result(), outcome::released);
}

TEST(release, says_that_it_was_gone_already) {
  release r = of_a_hold();
  EXPECT_EQ(r.on_answer(at(0s), fate::gone), verb::done);
  EXPECT_EQ(r.result(), outcome::already_gone);
}

TEST(release, gone_after_an_unknown_try_was_our_own_doing) {
  release r = of_a_hold();
  EXPECT_EQ(r.on_failure(at(1s), why::unknown), verb::none);
  EXPECT_EQ(r.on_time(r.wake_at()), verb::send);
  EXPECT_EQ(r.on_answer(at(1s), fate::gone), verb::done);
  EXPECT_EQ(r.result(), outcome::released);
}

TEST(release, gone_after_a_try_that_never_left_was_not) {
  release r = of_a_hold();
  EXPECT_EQ(r.on_failure(at(1s), why::not_sent), verb::none);
  EXPECT_EQ(r.on_time(r.wake_at()), verb::send);
  EXPECT_EQ(r.on_answer(at(1s), fate::gone), verb::done);
  EXPECT_EQ(r.result(), outcome::already_gone);
}

TEST(release, retries_until_its_own_deadline) {
  release r = of_a_hold();
  time_point now = at(0s);
  verb v = r.on_failure(now, why::unknown);
  while (v == verb::none) {
    now = r.wake_at();
    ASSERT_LE(now, at(11s));
    ASSERT_EQ(r.on_time(now), verb::send);
    v = r.on_failure(now, why::unknown);
  }
  EXPECT_EQ(v, verb::done);
  EXPECT_GE(now, at(10s));
  EXPECT_EQ(r.result(), outcome::unknown);
}

TEST(release, is_tried_at_once_when_the_engine_is_back) {
  release r = of_a_hold();
  r.on_failure(at(0s), why::not_sent);
  EXPECT_EQ(r.on_up(), verb::send);
}

// Went wrong: it was final, so that what was given back stayed taken for a ttl.
TEST(release, that_was_one_request_too_many_was_never_sent) {
  release r = of_a_hold();
  EXPECT_EQ(r.on_failure(at(0s), why::over_limit), verb::none);
  EXPECT_EQ(r.on_time(r.wake_at()), verb::send);
  EXPECT_EQ(r.on_answer(at(1s), fate::holding), verb::done);
  EXPECT_EQ(r.result(), outcome::released);
}

TEST(release, ends_at_once_if_trying_again_cannot_help) {
  release r = of_a_hold();
  EXPECT_EQ(r.on_failure(at(0s), why::refused), verb::done);
  EXPECT_EQ(r.result(), outcome::unknown);
}

TEST(release, of_an_attempt_is_repeated_when_no_late_request_can_follow) {
  release r = of_an_attempt();
  EXPECT_EQ(r.on_answer(at(0s), fate::gone), verb::none);
  EXPECT_EQ(r.wake_at(), at(4s));
  EXPECT_EQ(r.on_up(), verb::none) << "nothing has failed: not before its time";
  EXPECT_EQ(r.on_time(at(3999ms)), verb::none);
  EXPECT_EQ(r.on_time(at(4s)), verb::send);
  EXPECT_EQ(r.on_answer(at(4s), fate::holding), verb::done);
}

TEST(release, needs_no_repetition_once_the_attempts_request_is_answered) {
  release r = of_an_attempt();
  EXPECT_EQ(r.on_settled(true, time_point::min()), verb::none) << "our own is still under way, behind it";
  EXPECT_EQ(r.on_answer(at(0s), fate::holding), verb::done);

  release s = of_an_attempt();
  s.on_answer(at(0s), fate::gone);
  EXPECT_EQ(s.on_settled(false, time_point::min()), verb::done);
}

TEST(release, undoes_what_an_answer_behind_its_own_left) {
  release r = of_an_attempt();
  r.on_answer(at(0s), fate::gone);
  EXPECT_EQ(r.on_settled(true, time_point::min()), verb::send);
  EXPECT_EQ(r.on_answer(at(1s), fate::holding), verb::done);
}

TEST(release, an_answer_to_the_last_request_does_not_settle_the_ones_before) {
  release r = of_an_attempt();
  r.on_answer(at(0s), fate::gone);
  EXPECT_EQ(r.on_settled(false, at(3s)), verb::none);
  EXPECT_EQ(r.wake_at(), at(3s));
  EXPECT_EQ(r.on_time(at(3s)), verb::send);
  EXPECT_EQ(r.on_answer(at(3s), fate::gone), verb::done);
}

TEST(release, can_begin_later) {
  release r{at(4s), at(14s)};
  EXPECT_EQ(r.start_at(at(2s)), verb::none);
  EXPECT_EQ(r.on_up(), verb::none);
  EXPECT_EQ(r.on_time(at(2s)), verb::send);
}

}  // namespace
}  // namespace tyer::lease
