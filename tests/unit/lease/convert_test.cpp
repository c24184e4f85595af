#include "lease/convert.hpp"

#include "at.hpp"

#include <gtest/gtest.h>

namespace tyer::lease {
namespace {

using core::why;
using goal = convert::goal;
using state = convert::state;
using verb = convert::verb;

constexpr duration ttl = 10s, not_after = 2s;

convert upgrading() {
  convert c{ttl, not_after};
  EXPECT_EQ(c.begin(goal::exclusive, at(0s)), verb::ask);
  return c;
}

convert downgrading() {
  convert c{ttl, not_after};
  EXPECT_EQ(c.begin(goal::shared, at(0s)), verb::ask);
  return c;
}

// Waits at the engine, asks again at 3 s.
convert queued() {
  convert c = upgrading();
  EXPECT_EQ(c.on_queued(at(0s), 3s), verb::none);
  return c;
}

// ---- asking

TEST(convert, an_upgrade_is_asked_for_and_granted) {
  convert c = upgrading();
  EXPECT_EQ(c.where(), state::asking);
  EXPECT_EQ(c.to(), goal::exclusive);
  EXPECT_EQ(c.on_granted(at(1ms), at(0s)), verb::granted);
  EXPECT_EQ(c.where(), state::idle);
  EXPECT_EQ(c.wake_at(), time_point::max());
}

TEST(convert, a_downgrade_is_asked_for_and_granted) {
  convert c = downgrading();
  EXPECT_EQ(c.to(), goal::shared);
  EXPECT_EQ(c.on_granted(at(1ms), at(0s)), verb::granted);
  EXPECT_EQ(c.where(), state::idle);
}

TEST(convert, is_busy_if_another_one_upgrades) {
  convert c = upgrading();
  EXPECT_EQ(c.on_busy(), verb::busy);
  EXPECT_EQ(c.where(), state::idle);
}

TEST(convert, ends_if_the_engine_refuses) {
  convert c = upgrading();
  EXPECT_EQ(c.on_failure(at(1ms), why::refused), verb::failed);
  EXPECT_EQ(c.where(), state::idle);
  convert d = downgrading();
  EXPECT_EQ(d.on_failure(at(1ms), why::unsupported), verb::failed);
}

TEST(convert, tries_again_with_growing_pauses_when_nothing_was_sent) {
  convert c = upgrading();
  duration before{};
  time_point now = at(0s);
  for (int n = 0; n < 5; ++n) {
    EXPECT_EQ(c.on_failure(now, why::not_sent), verb::none);
    EXPECT_EQ(c.where(), state::resting);
    EXPECT_GT(c.wake_at() - now, before);
    before = c.wake_at() - now;
    EXPECT_EQ(c.on_time(c.wake_at() - 1ns), verb::none);
    now = c.wake_at();
    EXPECT_EQ(c.on_time(now), verb::ask);
  }
}

TEST(convert, never_loses_patience) {
  convert c = upgrading();
  time_point now = at(0s);
  for (int n = 0; n < 1000; ++n) {
    ASSERT_EQ(c.on_failure(now, why::unknown), verb::none);
    now = c.wake_at();
    ASSERT_EQ(c.on_time(now), verb::ask);
  }
}

TEST(convert, rests_no_longer_when_the_engine_is_up) {
  convert c = upgrading();
  c.on_failure(at(0s), why::not_sent);
  EXPECT_EQ(c.on_up(at(1ms)), verb::ask);
}

// ---- waiting at the engine

TEST(convert, asks_again_at_look_again) {
  convert c = queued();
  EXPECT_EQ(c.where(), state::queued);
  EXPECT_EQ(c.wake_at(), at(3s));
  EXPECT_EQ(c.on_time(at(2999ms)), verb::none);
  EXPECT_EQ(c.on_time(at(3s)), verb::ask);
}

// Went wrong: a lost push cost up to a ttl, in which the engine had the lock for us alone, and nobody used it.
TEST(convert, an_upgrade_whose_push_was_lost_kept_everybody_out_for_a_ttl) {
  convert c = upgrading();
  c.on_queued(at(0s), 100h);
  EXPECT_EQ(c.wake_at(), at(ttl / 3));
  convert d = upgrading();
  d.on_queued(at(0s), duration::zero());
  EXPECT_EQ(d.wake_at(), at(1ms));
}

TEST(convert, asks_again_when_woken) {
  convert c = queued();
  EXPECT_EQ(c.on_wake(at(1s)), verb::ask);
}

TEST(convert, a_push_that_overtakes_the_answer_is_not_lost) {
  convert c = upgrading();
  EXPECT_EQ(c.on_wake(at(1ms)), verb::none);
  EXPECT_EQ(c.on_queued(at(2ms), 3s), verb::ask);
  EXPECT_EQ(c.on_queued(at(3ms), 3s), verb::none) << "once";
}

TEST(convert, asks_again_when_the_engine_is_up) {
  convert c = queued();
  EXPECT_EQ(c.on_up(at(1s)), verb::ask);
}

// ---- what comes in the wrong state

TEST(convert, does_nothing_when_idle) {
  convert c{ttl, not_after};
  EXPECT_EQ(c.on_granted(at(0s), at(0s)), verb::none);
  EXPECT_EQ(c.on_queued(at(0s), 1s), verb::none);
  EXPECT_EQ(c.on_busy(), verb::none);
  EXPECT_EQ(c.on_failure(at(0s), why::refused), verb::none);
  EXPECT_EQ(c.on_wake(at(0s)), verb::none);
  EXPECT_EQ(c.on_up(at(0s)), verb::none);
  EXPECT_EQ(c.on_time(at(100s)), verb::none);
  EXPECT_EQ(c.give_up(at(0s)), verb::none);
  EXPECT_EQ(c.where(), state::idle);
}

TEST(convert, answers_count_only_while_it_asks) {
  convert c = queued();
  EXPECT_EQ(c.on_granted(at(0s), at(0s)), verb::none);
  EXPECT_EQ(c.on_busy(), verb::none);
  EXPECT_EQ(c.on_failure(at(0s), why::unknown), verb::none);
  EXPECT_EQ(c.where(), state::queued);
}

TEST(convert, is_not_woken_out_of_a_rest) {
  convert c = upgrading();
  c.on_failure(at(0s), why::unknown);
  EXPECT_EQ(c.on_wake(at(1ms)), verb::none);
  EXPECT_EQ(c.where(), state::resting);
}

TEST(convert, a_downgrade_cannot_be_given_up) {
  convert c = downgrading();
  EXPECT_EQ(c.give_up(at(1ms)), verb::none);
  EXPECT_EQ(c.where(), state::asking);
}

// ---- the first rule: no upgrade while an earlier downgrade may be executed

TEST(convert, an_upgrade_waits_until_a_downgrade_without_an_answer_cannot_come_any_more) {
  convert c = downgrading();
  EXPECT_EQ(c.on_failure(at(2s), why::unknown), verb::none);
  EXPECT_EQ(c.on_time(c.wake_at()), verb::ask);
  EXPECT_EQ(c.on_granted(at(2100ms), at(2050ms)), verb::granted) << "its repetition was executed";
  EXPECT_EQ(c.begin(goal::exclusive, at(2200ms)), verb::none) << "but the first may still be under way";
  EXPECT_EQ(c.where(), state::resting);
  EXPECT_EQ(c.wake_at(), at(2 * not_after));
  EXPECT_EQ(c.on_up(at(3s)), verb::none) << "whatever happens before";
  EXPECT_EQ(c.on_time(at(3s)), verb::none);
  EXPECT_EQ(c.on_time(at(4s)), verb::ask);
}

TEST(convert, a_downgrade_that_was_never_sent_keeps_no_upgrade_waiting) {
  convert c = downgrading();
  c.on_failure(at(1ms), why::not_sent);
  c.on_time(c.wake_at());
  EXPECT_EQ(c.on_granted(at(20ms), at(11ms)), verb::granted);
  EXPECT_EQ(c.begin(goal::exclusive, at(21ms)), verb::ask);
}

TEST(convert, an_upgrade_that_still_waits_for_its_turn_can_be_given_up) {
  convert c = downgrading();
  c.on_failure(at(2s), why::unknown);
  c.on_time(c.wake_at());
  c.on_granted(at(2100ms), at(2050ms));
  c.begin(goal::exclusive, at(2200ms));
  EXPECT_EQ(c.give_up(at(2300ms)), verb::ask);
  EXPECT_EQ(c.to(), goal::shared);
  EXPECT_EQ(c.on_granted(at(2400ms), at(2300ms)), verb::granted) << "it was never sent: once is enough";
}

// ---- the second rule: an upgrade that was given up is taken back once more when it can no longer come

TEST(convert, an_upgrade_that_waits_is_taken_back_at_once) {
  convert c = queued();
  EXPECT_EQ(c.give_up(at(1s)), verb::ask);
  EXPECT_EQ(c.to(), goal::shared);
  EXPECT_EQ(c.on_granted(at(1001ms), at(1s)), verb::granted) << "its request had an answer";
}

TEST(convert, an_upgrade_under_way_is_taken_back_twice) {
  convert c = upgrading();
  EXPECT_EQ(c.give_up(at(1ms)), verb::ask);
  EXPECT_EQ(c.on_granted(at(2ms), at(1ms)), verb::none) << "it may be executed behind that";
  EXPECT_EQ(c.wake_at(), at(2 * not_after));
  EXPECT_EQ(c.on_time(at(4s)), verb::ask);
  EXPECT_EQ(c.to(), goal::shared);
  EXPECT_EQ(c.on_granted(at(4001ms), at(4s)), verb::granted);
}

TEST(convert, an_upgrade_without_an_answer_is_taken_back_when_it_can_no_longer_come) {
  convert c = upgrading();
  c.on_failure(at(2s), why::unknown);
  EXPECT_EQ(c.give_up(at(2001ms)), verb::ask);
  EXPECT_EQ(c.on_granted(at(2002ms), at(2001ms)), verb::none);
  EXPECT_EQ(c.on_time(at(4s)), verb::ask);
  EXPECT_EQ(c.on_granted(at(4001ms), at(4s)), verb::granted);
}

TEST(convert, an_upgrade_that_came_between_a_taking_back_and_its_late_answer_is_taken_back_again) {
  convert c = upgrading();
  EXPECT_EQ(c.give_up(at(1ms)), verb::ask);
  EXPECT_EQ(c.on_granted(at(4001ms), at(1ms)), verb::ask);
  EXPECT_EQ(c.to(), goal::shared);
  EXPECT_EQ(c.on_granted(at(4003ms), at(4001ms)), verb::granted);
}

TEST(convert, an_upgrade_that_was_never_sent_is_taken_back_once) {
  convert c = upgrading();
  c.on_failure(at(1ms), why::not_sent);
  EXPECT_EQ(c.give_up(at(2ms)), verb::ask);
  EXPECT_EQ(c.on_granted(at(3ms), at(2ms)), verb::granted);
}

TEST(convert, taking_back_is_repeated_until_it_is_confirmed) {
  convert c = queued();
  c.give_up(at(1s));
  EXPECT_EQ(c.on_failure(at(3s), why::unknown), verb::none);
  EXPECT_EQ(c.on_time(c.wake_at()), verb::ask);
  EXPECT_EQ(c.to(), goal::shared);
  EXPECT_EQ(c.on_granted(at(3100ms), at(3010ms)), verb::granted);
  EXPECT_EQ(c.begin(goal::exclusive, at(3200ms)), verb::none) << "and is itself a downgrade that may come late";
  EXPECT_EQ(c.wake_at(), at(1s + 2 * not_after));
}

}  // namespace
}  // namespace tyer::lease
