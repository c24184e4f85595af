#include "took.hpp"
#include "unit/api/later.hpp"

#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tyer::testing_api {
namespace {

template <class Lock>
std::error_code locking(Lock& lock) {
  try {
    lock.lock();
  } catch (const error& e) {
    return e.code();
  }
  return {};
}

// Runs f on a thread with the id of one that has ended; false if there is none to be had.
template <class F>
bool run_as(std::thread::id ended, F f) {
  bool ran = false;
  std::vector<std::jthread> others;  // one stack each, until it is the one
  std::promise<void> over;
  const auto is_over = over.get_future().share();
  for (int i = 0; i < 64 && !ran; ++i) {
    std::promise<void> looked;
    others.emplace_back([&, ended, is_over] {
      if (std::this_thread::get_id() == ended) ran = true, f();
      looked.set_value();
      is_over.wait();
    });
    looked.get_future().wait();
  }
  over.set_value();
  return ran;
}

class mutex_on_hand_time : public ::testing::Test {
 protected:
  testing::engine engine;
  client a = engine.connect(), b = engine.connect();
};

TEST_F(mutex_on_hand_time, a_cancelled_try_does_not_give_its_empty_answer_to_the_waiter_behind_it) {
  mutex held{a, "x"}, wanted{b, "x"};
  hold h = held.acquire();
  engine.pause();
  auto attempt = acquire_later(wanted, {.waits = false});
  auto waiting = acquire_later(wanted);
  attempt.handle->cancel();
  EXPECT_EQ(attempt.get().why.code, errc::cancelled);
  engine.resume();
  engine.advance(1s);
  EXPECT_FALSE(waiting.is_there());
  h = {};
  engine.advance(1s);
  ASSERT_TRUE(waiting.is_there());
  EXPECT_TRUE(waiting.get().got.valid());
}

TEST_F(mutex_on_hand_time, a_thread_that_locked_it_twice_waited_for_itself_for_ever) {
  mutex m{a, "x"};
  multi_mutex two{a, {"y", "z"}};
  const auto refused = [](auto& lock) { return locking(lock) == errc::would_deadlock; };
  for (int i = 0; i < 2; ++i) {
    const std::scoped_lock all{m, two};
    EXPECT_TRUE(refused(m));
    EXPECT_TRUE(refused(two));
    EXPECT_FALSE(m.try_lock()) << "one attempt waits for nobody";
    EXPECT_TRUE(m.held().valid()) << "and the first lock stands";
  }
  std::unique_lock mine{m};
  std::thread{[theirs = std::move(mine)]() mutable { theirs.unlock(); }}.join();
  const std::scoped_lock again{m};
}

TEST_F(mutex_on_hand_time, a_thread_with_the_id_of_one_that_had_ended_was_told_that_it_had_locked) {
  mutex m{a, "x"};
  multi_mutex two{a, {"y", "z"}};
  recursive_mutex counted{a, "r"};
  shared_mutex read{a, "s"};
  std::thread::id ended;
  std::thread{[&] {
    m.lock(), two.lock(), counted.lock(), read.lock();
    ended = std::this_thread::get_id();
  }}.join();
  a.close();  // whoever waits is told that, and nothing else
  const bool ran = run_as(ended, [&] {
    EXPECT_EQ(locking(m), errc::closed);
    EXPECT_EQ(locking(two), errc::closed);
    EXPECT_EQ(locking(counted), errc::closed);
    EXPECT_EQ(locking(read), errc::closed);
  });
  if (!ran) GTEST_SKIP() << "the id was not given again";
}

TEST_F(mutex_on_hand_time, a_thread_that_locked_twice_was_told_of_threads_of_tyer_alone) {
  mutex m{a, "x"};
  m.lock();
  try {
    m.lock();
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string{e.what()}.find("this thread has locked it already"), std::string::npos) << e.what();
    EXPECT_EQ(std::string{e.what()}.find("a blocking call"), std::string::npos) << e.what();
  }
  m.unlock();
}

TEST_F(mutex_on_hand_time, a_wait_without_a_limit_bears_an_outage_for_unavailable_after) {
  client c = engine.connect({.request_timeout = 1s, .unavailable_after = 5s});
  mutex m{c, "x"};
  engine.pause();
  auto waiting = acquire_later(m);
  engine.advance(4s);
  EXPECT_FALSE(waiting.is_there());
  engine.advance(2s);
  ASSERT_TRUE(waiting.is_there());
  EXPECT_EQ(waiting.get().why.code, errc::unavailable);
  engine.resume();
}

TEST_F(mutex_on_hand_time, what_a_given_up_wait_had_sent_is_not_in_the_way) {
  client c = engine.connect({.request_timeout = 1s, .unavailable_after = 2s});
  mutex m{c, "x", {.ttl = 1h}}, other{a, "x"};
  engine.pause();
  auto waiting = acquire_later(m);
  engine.advance(4s);
  EXPECT_EQ(waiting.get().why.code, errc::unavailable);
  engine.resume();
  engine.advance(5s);
  EXPECT_TRUE(took(other.try_acquire()));
}

TEST_F(mutex_on_hand_time, an_answer_that_needs_no_engine_is_not_waited_for) {
  mutex m{a, "x", {.ttl = 1h}};
  hold h = m.acquire();
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(took(m.try_acquire()));  // known here
    EXPECT_FALSE(took(m.try_acquire()));
  }
  engine.lose(h);
  EXPECT_EQ(h.release(), release_outcome::already_gone);  // known here too
}

TEST_F(mutex_on_hand_time, a_lock_given_back_unused_has_no_min_hold) {
  mutex m{a, "x", {.ttl = 10s, .min_hold = 1h}}, theirs{b, "x"};
  m.lock();
  engine.lose(m.held());  // its owner is slow to leave
  auto next = std::async(std::launch::async, [&] {
    m.lock();
    const bool valid = m.held().valid();
    m.unlock();
    return valid;
  });
  for (int i = 0; i < 3; ++i) {  // between them the next one has the lock, and nothing to do with it
    const hold h = theirs.try_acquire_for(1min);
    EXPECT_TRUE(h.valid());
  }
  m.unlock();
  EXPECT_TRUE(within_reason(std::move(next)));
}

}  // namespace
}  // namespace tyer::testing_api
