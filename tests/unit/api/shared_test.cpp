// Conversions, readers and permits on hand time: what happens at which moment, and what once went wrong.
#include "took.hpp"
#include "unit/api/later.hpp"

#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stop_token>
#include <thread>

namespace tyer::testing_api {
namespace {

class shared_on_hand_time : public ::testing::Test {
 protected:
  // An upgrade on a thread of its own, that has got as far as waiting.
  std::future<failure> upgrade_later(hold& h, std::chrono::nanoseconds at_most, const std::stop_token& stop = {}) {
    auto f = std::async(std::launch::async, [this, &h, at_most, stop] {
      failure why;
      upgraded = mine.try_upgrade_for(why, h, at_most, stop);
      return why;
    });
    shared_mutex probe{c, "x", {.ttl = 10s}};
    while (took(probe.shared().try_acquire())) std::this_thread::yield();
    return f;
  }

  testing::engine engine;
  client a = engine.connect(), b = engine.connect(), c = engine.connect();
  shared_mutex mine{a, "x", {.ttl = 10s}}, theirs{b, "x", {.ttl = 10s}};
  std::atomic<bool> upgraded{false};
};

TEST_F(shared_on_hand_time, a_writer_that_locked_it_again_waited_for_itself_for_ever) {
  const auto refused = [](auto lock) {
    try {
      lock();
    } catch (const error& e) {
      return e.code() == errc::would_deadlock;
    }
    return false;
  };
  for (int i = 0; i < 2; ++i) {
    mine.lock();
    EXPECT_TRUE(refused([&] { mine.lock(); }));
    EXPECT_TRUE(refused([&] { mine.lock_shared(); }));
    EXPECT_FALSE(mine.try_lock_shared()) << "one attempt waits for nobody";
    EXPECT_TRUE(mine.held().valid()) << "and the first lock stands";
    mine.unlock();
  }
  mine.lock_shared();
  mine.lock_shared();  // as often as it likes
  mine.unlock_shared();
  mine.unlock_shared();
}

TEST_F(shared_on_hand_time, an_upgrade_waits_until_its_limit_and_no_longer) {
  hold h = mine.shared().acquire(), other = theirs.shared().acquire();
  auto waiting = upgrade_later(h, 30s);
  engine.advance(29999ms);
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  engine.advance(1ms);
  EXPECT_FALSE(within_reason(std::move(waiting)));
  EXPECT_FALSE(upgraded);
  EXPECT_TRUE(h.valid() && h.mode() == lock_mode::shared);
  engine.advance(1ms);
  EXPECT_TRUE(took(theirs.shared().try_acquire()));  // readers come in again
}

TEST_F(shared_on_hand_time, an_upgrade_has_it_when_the_last_reader_goes) {
  hold h = mine.shared().acquire(), other = theirs.shared().acquire();
  const auto id = h.id();
  auto waiting = upgrade_later(h, 30s);
  engine.advance(20s);
  other.release();
  engine.advance(1ms);
  EXPECT_FALSE(within_reason(std::move(waiting)));
  EXPECT_TRUE(upgraded);
  EXPECT_EQ(h.mode(), lock_mode::exclusive);
  EXPECT_EQ(h.id(), id);
  engine.advance(1h);
  EXPECT_TRUE(h.valid());
}

TEST_F(shared_on_hand_time, an_upgrade_lasts_through_a_short_outage) {
  hold h = mine.shared().acquire(), other = theirs.shared().acquire();
  auto waiting = upgrade_later(h, 1min);
  engine.pause();
  engine.advance(5s);
  engine.resume();
  engine.advance(5s);
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  other.release();
  engine.advance(1s);
  EXPECT_FALSE(within_reason(std::move(waiting)));
  EXPECT_TRUE(upgraded);
}

TEST_F(shared_on_hand_time, an_upgrade_ends_with_its_hold_when_the_engine_is_away_for_longer) {
  hold h = mine.shared().acquire(), other = theirs.shared().acquire();
  auto waiting = upgrade_later(h, 1min);
  engine.pause();
  engine.advance(10s);
  EXPECT_EQ(within_reason(std::move(waiting)).code, errc::lost);
  EXPECT_FALSE(h.valid());
  engine.resume();
}

TEST_F(shared_on_hand_time, closing_the_client_once_left_an_upgrade_waiting_for_ever) {
  hold h = mine.shared().acquire(), other = theirs.shared().acquire();
  auto waiting = upgrade_later(h, 1h);
  a.close();
  EXPECT_EQ(within_reason(std::move(waiting)).code, errc::closed);
}

// The request that takes the upgrade back may be executed when the next owner, under the same id, has upgraded itself.
TEST_F(shared_on_hand_time, a_hold_whose_upgrade_is_still_being_taken_back_is_not_handed_off) {
  hold h = mine.shared().acquire(), other = theirs.shared().acquire();
  std::stop_source stop;
  auto waiting = upgrade_later(h, 1h, stop.get_token());
  auto next = acquire_later(mine.shared());
  engine.advance(4s);  // renewed since the next one came, which alone would let it be handed off
  engine.pause();
  stop.request_stop();
  EXPECT_EQ(within_reason(std::move(waiting)).code, errc::cancelled);
  h = {};
  engine.advance(100ms);
  EXPECT_FALSE(next.is_there());
  engine.resume();
  engine.advance(100ms);
  ASSERT_TRUE(next.is_there());
  EXPECT_EQ(next.get().got.mode(), lock_mode::shared);
}

TEST_F(shared_on_hand_time, one_attempt_beside_another_is_made_and_not_refused_unasked) {
  engine.pause();
  auto first = acquire_later(mine.shared(), {.waits = false});
  auto second = acquire_later(mine.shared(), {.waits = false}), third = acquire_later(mine.shared());
  engine.advance(1ms);
  EXPECT_FALSE(first.is_there() || second.is_there() || third.is_there());
  engine.resume();
  engine.advance(1ms);
  EXPECT_TRUE(first.get().got.valid());
  EXPECT_TRUE(second.get().got.valid());
  EXPECT_TRUE(third.get().got.valid());
}

TEST_F(shared_on_hand_time, one_attempt_behind_one_that_has_to_wait_is_refused) {
  hold writing = theirs.acquire();
  engine.pause();
  auto waiting = acquire_later(mine.shared());
  auto attempt = acquire_later(mine.shared(), {.waits = false});
  engine.resume();
  engine.advance(1ms);
  ASSERT_TRUE(attempt.is_there());
  const auto refused = attempt.get();
  EXPECT_FALSE(refused.why || refused.got);
  EXPECT_FALSE(waiting.is_there());
  writing.release();
  engine.advance(1ms);
  EXPECT_TRUE(waiting.get().got.valid());
}

TEST_F(shared_on_hand_time, one_attempt_behind_one_that_was_cancelled_leaves_nobody_in_the_queue) {
  hold writing = theirs.acquire();
  engine.pause();
  auto waiting = acquire_later(mine.shared());
  auto attempt = acquire_later(mine.shared(), {.waits = false});
  waiting.handle->cancel();
  EXPECT_EQ(waiting.get().why.code, errc::cancelled);
  engine.resume();
  engine.advance(1ms);
  EXPECT_FALSE(took(attempt.get().got));
  writing.release();
  engine.advance(1ms);
  EXPECT_TRUE(took(theirs.try_acquire()));
}

TEST_F(shared_on_hand_time, one_attempt_behind_another_has_no_more_time_than_one_alone) {
  client d = engine.connect({.request_timeout = 1s});
  semaphore s{d, "permits", 3};
  engine.pause();
  auto waiting = acquire_later(s);
  auto attempt = acquire_later(s, {.waits = false});
  engine.advance(999ms);
  EXPECT_FALSE(attempt.is_there());
  engine.advance(1ms);
  ASSERT_TRUE(attempt.is_there());
  EXPECT_EQ(attempt.get().why.code, errc::unavailable);
  engine.resume();
}

TEST_F(shared_on_hand_time, a_reader_that_is_away_keeps_the_writer_out_for_its_ttl) {
  hold h = mine.shared().acquire();
  auto writer = acquire_later(theirs);
  engine.pause();
  engine.advance(8s);
  engine.resume();
  engine.advance(1ms);
  EXPECT_TRUE(h.valid());
  EXPECT_FALSE(writer.is_there());
  engine.advance(1h);
  EXPECT_FALSE(writer.is_there());
  h = {};
  engine.advance(1ms);
  EXPECT_TRUE(writer.is_there());
}

}  // namespace
}  // namespace tyer::testing_api
