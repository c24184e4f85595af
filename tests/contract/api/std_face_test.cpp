#include "contract/api/fixture.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace contract {
namespace {

template <class Kind>
class std_face : public contract_of<Kind> {};
TYPED_TEST_SUITE(std_face, lockable_kinds);

TYPED_TEST(std_face, the_hold_is_there_between_lock_and_unlock) {
  if (!this->can().token) GTEST_SKIP() << no_token;
  auto c = this->connect();
  auto lock = this->make(c);
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.held()); }), errc::not_held);
  lock.lock();
  EXPECT_TRUE(lock.held().valid());
  EXPECT_GT(lock.held().token(), 0U);
  EXPECT_EQ(lock.held().name(), this->name());
  lock.unlock();
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.held()); }), errc::not_held);
  auto h = lock.acquire();  // independent of the object's own face
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.held()); }), errc::not_held);
}

TYPED_TEST(std_face, timed_tries_keep_their_limits) {
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a), other = this->make(b);
  auto h = other.acquire();
  const stopwatch watch;
  EXPECT_FALSE(lock.try_lock());
  EXPECT_LT(watch.elapsed(), slack);
  EXPECT_FALSE(lock.try_lock_for(100ms));
  EXPECT_FALSE(lock.try_lock_until(steady_clock::now() + 50ms));
  EXPECT_FALSE(lock.try_lock_until(std::chrono::system_clock::now() + 50ms));
  EXPECT_FALSE(lock.try_lock_for(-1s));
  EXPECT_GE(watch.elapsed(), 199ms);
  EXPECT_LT(watch.elapsed(), 200ms + 2 * slack);
  h.release();
  EXPECT_TRUE(lock.try_lock_for(patience));
  lock.unlock();
}

TYPED_TEST(std_face, a_try_with_the_longest_limit_waits) {
  auto c = this->connect();
  auto lock = this->make(c);
  EXPECT_TRUE(lock.try_lock_for(std::chrono::nanoseconds::max()));
  lock.unlock();
  EXPECT_TRUE(lock.try_lock_for(std::chrono::hours::max()));
  lock.unlock();
  EXPECT_TRUE(lock.try_lock_until(steady_clock::time_point::max()));
  lock.unlock();
}

TYPED_TEST(std_face, is_locked_until_unlock_even_if_the_hold_was_lost) {
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a, {.ttl = 60s}), elsewhere = this->make(b, {.ttl = 60s});
  lock.lock();
  this->break_it();
  ASSERT_TRUE(wait_for_loss(lock.held().lost()));

  // Elsewhere the lock is free; here the object still belongs to whoever has not unlocked it.
  auto theirs = elsewhere.try_acquire_for(patience);
  EXPECT_TRUE(theirs);
  EXPECT_FALSE(lock.try_lock());
  theirs.release();
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock_for(50ms));
  EXPECT_FALSE(lock.held().valid());

  lock.unlock();
  EXPECT_TRUE(lock.try_lock_for(patience));
  lock.unlock();
}

// It had the lock, kept it from everybody, and came back with it when it was lost.
TYPED_TEST(std_face, waiting_for_one_that_has_lost_its_hold_takes_nothing_from_others_and_ends_with_a_valid_hold) {
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a, {.ttl = 60s}), elsewhere = this->make(b, {.ttl = 60s});
  lock.lock();
  this->break_it();
  ASSERT_TRUE(wait_for_loss(lock.held().lost()));
  auto next = in_background([&] {
    lock.lock();
    const bool valid = lock.held().valid();
    lock.unlock();
    return valid;
  });
  bool had = true;
  for (int i = 0; i < 3; ++i) {  // between them it may have been granted the lock, and has given it back
    auto theirs = elsewhere.try_acquire_for(5s);
    had = had && theirs.valid();
  }
  EXPECT_TRUE(had);
  EXPECT_EQ(next.wait_for(0s), std::future_status::timeout);
  EXPECT_FALSE(lock.held().valid());
  lock.unlock();
  EXPECT_TRUE(soon(next));
}

TYPED_TEST(std_face, waiting_for_one_that_has_lost_its_hold_has_the_limit_that_was_given) {
  auto a = this->connect();
  auto lock = this->make(a, {.ttl = 60s});
  lock.lock();
  this->break_it();
  ASSERT_TRUE(wait_for_loss(lock.held().lost()));
  const stopwatch watch;
  EXPECT_FALSE(soon(in_background([&] { return lock.try_lock_for(200ms); })));
  EXPECT_GE(watch.elapsed(), 200ms);
  EXPECT_LT(watch.elapsed(), 200ms + slack);
  lock.unlock();
}

TYPED_TEST(std_face, waiting_for_one_that_has_lost_its_hold_ends_when_the_client_is_closed) {
  auto a = this->connect();
  auto lock = this->make(a, {.ttl = 60s});
  lock.lock();
  this->break_it();
  ASSERT_TRUE(wait_for_loss(lock.held().lost()));
  auto next = in_background([&] { return code_of([&] { lock.lock(); }); });
  EXPECT_EQ(next.wait_for(100ms), std::future_status::timeout);
  a.close();
  EXPECT_EQ(soon(next), errc::closed);
  lock.unlock();
}

TYPED_TEST(std_face, unlocking_a_lost_lock_does_not_unlock_the_next_owners) {
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a, {.ttl = 60s}), elsewhere = this->make(b, {.ttl = 60s});
  lock.lock();
  this->break_it();
  auto theirs = elsewhere.try_acquire_for(patience);
  ASSERT_TRUE(theirs);
  lock.unlock();
  EXPECT_FALSE(lock.try_lock());
  EXPECT_TRUE(theirs.valid());
  EXPECT_EQ(theirs.release(), tyer::release_outcome::released);
}

TYPED_TEST(std_face, may_be_unlocked_by_another_thread) {
  auto c = this->connect();
  auto lock = this->make(c);
  lock.lock();
  soon(in_background([&] { lock.unlock(); }));
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

}  // namespace
}  // namespace contract
