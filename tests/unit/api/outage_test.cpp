// An engine that did not answer is an error, whatever the form of the call; only contention is a value.
#include "took.hpp"
#include "unit/api/later.hpp"

#include <tyer/admin.hpp>
#include <tyer/testing.hpp>

#include <gtest/gtest.h>

namespace tyer::testing_api {
namespace {

class outage_on_hand_time : public ::testing::Test {
 protected:
  testing::engine engine;
  client a = engine.connect({.request_timeout = 1s, .unavailable_after = 2s});
  client b = engine.connect();
  mutex mine{a, "x", {.ttl = 10s}}, theirs{b, "x", {.ttl = 1h}};
};

template <class Call>
std::error_code thrown_by(Call call) {
  try {
    call();
  } catch (const error& e) {
    return e.code();
  }
  return {};
}

TEST_F(outage_on_hand_time, looked_like_contention_to_a_wait_with_a_limit) {
  engine.pause();
  auto limited = acquire_later(mine, {.at_most = 10s});
  engine.advance(9s);
  EXPECT_FALSE(limited.is_there());  // longer than unavailable_after: the limit is the caller's own
  engine.advance(1s);
  ASSERT_TRUE(limited.is_there());
  const auto answer = limited.get();
  EXPECT_EQ(answer.why.code, errc::unavailable);
  EXPECT_NE(answer.why.words, "");  // the engine's last ones
  EXPECT_FALSE(answer.got);
}

TEST_F(outage_on_hand_time, is_told_by_every_blocking_form) {
  engine.pause();
  failure why;
  EXPECT_FALSE(took(mine.try_acquire_for(why, 5s)));
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_FALSE(took(mine.try_acquire_until(why, lease_clock::now() + 5s)));
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_EQ(thrown_by([&] { static_cast<void>(mine.try_acquire_for(5s)); }), errc::unavailable);
  EXPECT_EQ(thrown_by([&] { static_cast<void>(mine.try_acquire()); }), errc::unavailable);
  multi_mutex both{a, {"x", "y"}};
  EXPECT_EQ(thrown_by([&] { static_cast<void>(both.try_acquire_for(5s)); }), errc::unavailable);
  shared_mutex readers{a, "z"};
  EXPECT_EQ(thrown_by([&] { static_cast<void>(readers.shared().try_acquire_for(5s)); }), errc::unavailable);
}

TEST_F(outage_on_hand_time, is_only_false_to_the_timed_tries_of_the_standard_face) {
  engine.pause();
  EXPECT_FALSE(mine.try_lock_for(5s));
  EXPECT_FALSE(mine.try_lock_for(0s));
  shared_mutex readers{a, "z"};
  EXPECT_FALSE(readers.try_lock_for(5s));
  EXPECT_FALSE(readers.try_lock_shared_for(5s));
  recursive_mutex again{a, "r"};
  EXPECT_FALSE(again.try_lock_for(5s));
  EXPECT_EQ(thrown_by([&] { static_cast<void>(mine.try_lock()); }), errc::unavailable);
}

TEST_F(outage_on_hand_time, looked_like_contention_to_one_attempt_behind_others_of_its_client) {
  engine.pause();
  auto waiting = acquire_later(mine, {.at_most = 1h});
  engine.advance(3s);  // its first request has failed
  failure why;
  EXPECT_FALSE(took(mine.try_acquire(why)));
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_NE(why.words, "");
}

TEST_F(outage_on_hand_time, that_begins_in_the_queue_is_no_contention) {
  const hold h = theirs.acquire();
  auto limited = acquire_later(mine, {.at_most = 30s});
  engine.advance(5s);  // it was told that others have it, and its place was kept
  engine.pause();
  engine.advance(25s);
  ASSERT_TRUE(limited.is_there());
  EXPECT_EQ(limited.get().why.code, errc::unavailable);
}

TEST_F(outage_on_hand_time, several_locks_have_one_limit_on_the_clock_of_their_client) {
  multi_mutex both{a, {"x", "y"}};
  mutex x{b, "x", {.ttl = 10s, .max_hold = 5s}}, y{b, "y"};
  const hold half_the_time = x.acquire(), all_the_time = y.acquire();
  const auto before = engine.now();
  EXPECT_FALSE(took(both.try_acquire_for(10s)));
  EXPECT_EQ(engine.now() - before, 10s);
}

TEST_F(outage_on_hand_time, that_is_over_before_the_limit_is_forgotten) {
  const hold h = theirs.acquire();
  engine.pause();
  auto limited = acquire_later(mine, {.at_most = 30s});
  engine.advance(15s);
  engine.resume();
  engine.advance(15s);
  ASSERT_TRUE(limited.is_there());
  EXPECT_FALSE(limited.get().why);
}

TEST_F(outage_on_hand_time, contention_is_a_value_at_the_limit) {
  const hold h = theirs.acquire();
  failure why{errc::lost};
  EXPECT_FALSE(took(mine.try_acquire_for(why, 30s)));
  EXPECT_FALSE(why) << why.words;
  EXPECT_FALSE(took(mine.try_acquire_for(30s)));
  EXPECT_FALSE(mine.try_lock_for(30s));
}

// It is known here who has it, however silent the engine.
TEST_F(outage_on_hand_time, behind_a_caller_of_the_same_client_it_is_contention) {
  mutex long_held{a, "x", {.ttl = 1h}};
  const hold h = long_held.acquire();
  engine.pause();
  failure why{errc::lost};
  EXPECT_FALSE(took(long_held.try_acquire_for(why, 5s)));
  EXPECT_FALSE(why) << why.words;
}

TEST_F(outage_on_hand_time, a_limit_that_is_not_above_zero_is_one_attempt) {
  const auto before = engine.now();
  hold h = theirs.acquire();
  EXPECT_FALSE(took(mine.try_acquire_for(0s)));
  EXPECT_FALSE(took(mine.try_acquire_for(-1h)));
  EXPECT_FALSE(took(mine.try_acquire_for(std::chrono::hours::min())));
  h.release();
  EXPECT_TRUE(took(mine.try_acquire_for(0s)));
  EXPECT_EQ(engine.now(), before);
}

// Went wrong: errc::unavailable, and it was done all the same when the engine went on.
TEST_F(outage_on_hand_time, was_all_that_was_told_of_what_may_have_been_done) {
  hold theirs_now = theirs.acquire();
  const admin people{a};
  const auto held = people.show("x");
  ASSERT_EQ(held.size(), 1u);
  engine.pause();
  failure why;
  EXPECT_FALSE(people.evict(why, held[0], "now"));
  EXPECT_EQ(why.code, errc::outcome_unknown);
  EXPECT_EQ(a.ask(why, "x", "please"), 0u);
  EXPECT_EQ(why.code, errc::outcome_unknown);
  EXPECT_TRUE(people.show(why, "x").empty());
  EXPECT_EQ(why.code, errc::unavailable) << "to look changes nothing";
  engine.resume();
}

TEST_F(outage_on_hand_time, looked_like_contention_to_an_upgrade_with_a_limit) {
  shared_mutex m{a, "z", {.ttl = 1h}};
  hold h = m.shared().acquire();
  engine.pause();
  failure why;
  EXPECT_FALSE(m.try_upgrade_for(why, h, 5s));
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_FALSE(m.try_upgrade(why, h));
  EXPECT_EQ(why.code, errc::unavailable);
  engine.resume();
}

TEST_F(outage_on_hand_time, other_readers_are_contention_to_an_upgrade_with_a_limit) {
  shared_mutex m{a, "z", {.ttl = 1h}}, other{b, "z", {.ttl = 1h}};
  hold h = m.shared().acquire();
  const hold reader = other.shared().acquire();
  failure why{errc::lost};
  EXPECT_FALSE(m.try_upgrade_for(why, h, 5s));
  EXPECT_FALSE(why) << why.words;
}

}  // namespace
}  // namespace tyer::testing_api
