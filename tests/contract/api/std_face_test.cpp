#include "contract/api/fixture.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace contract {
namespace {

template <class Kind>
class std_face : public contract_of<Kind> {
 protected:
  void break_it() {
    const auto held = this->raw().holding(this->name());
    ASSERT_EQ(held.size(), 1U);
    ASSERT_EQ(this->raw().evict(held.front()), tyer::engine::fate::holding);
  }
};
TYPED_TEST_SUITE(std_face, lockable_kinds);

TYPED_TEST(std_face, works_with_every_guard) {
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a), other = this->make(b);
  const auto is_locked = [&] { return !other.try_acquire(); };
  {
    const std::lock_guard guard{lock};
    EXPECT_TRUE(is_locked());
  }
  EXPECT_TRUE(other.try_acquire_for(patience));
  {
    const std::scoped_lock guard{lock};
    EXPECT_TRUE(is_locked());
  }
  {
    std::unique_lock guard{lock, std::try_to_lock};
    ASSERT_TRUE(guard.owns_lock());
    EXPECT_TRUE(is_locked());
    guard.unlock();
    EXPECT_TRUE(guard.try_lock_for(patience));
    guard.unlock();
    EXPECT_TRUE(guard.try_lock_until(steady_clock::now() + patience));
    auto moved = std::move(guard);
    EXPECT_TRUE(is_locked());
  }
  {
    const std::unique_lock guard{lock, 5s};
    EXPECT_TRUE(guard.owns_lock());
  }
  EXPECT_TRUE(other.try_acquire_for(patience));
}

TYPED_TEST(std_face, many_locks_are_taken_without_deadlock) {
  auto a = this->connect(), b = this->connect();
  auto one_a = this->make(a), two_a = this->make_as(a, this->name() + "/2");
  auto one_b = this->make(b), two_b = this->make_as(b, this->name() + "/2");
  std::atomic<int> inside{0}, turns{0};
  const auto work = [&](auto& x, auto& y) {
    for (int i = 0; i < 10; ++i) {
      const std::scoped_lock both{x, y};
      EXPECT_EQ(inside.fetch_add(1), 0);
      ++turns;
      inside.fetch_sub(1);
    }
  };
  auto forth = in_background([&] { work(one_a, two_a); });
  auto back = in_background([&] { work(two_b, one_b); });
  soon(forth);
  soon(back);
  EXPECT_EQ(turns.load(), 20);
}

TYPED_TEST(std_face, works_with_a_condition_variable) {
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a), same = this->make(a);
  std::condition_variable_any changed;
  bool ready = false;
  auto waiter = in_background([&] {
    std::unique_lock guard{lock};
    return changed.wait_for(guard, patience, [&] { return ready; });
  });
  {
    const std::scoped_lock guard{lock};
    ready = true;
  }
  changed.notify_all();
  EXPECT_TRUE(soon(waiter));
}

TYPED_TEST(std_face, excludes_between_threads_of_one_object) {
  auto c = this->connect();
  auto lock = this->make(c);
  std::atomic<int> inside{0};
  int sum = 0;
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < 8; ++t) {
      all.emplace_back([&] {
        for (int i = 0; i < 25; ++i) {
          const std::scoped_lock guard{lock};
          EXPECT_EQ(inside.fetch_add(1), 0);
          ++sum;  // not atomic: it is also a local mutex
          inside.fetch_sub(1);
        }
      });
    }
  }
  EXPECT_EQ(sum, 200);
}

TYPED_TEST(std_face, the_hold_is_there_between_lock_and_unlock) {
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

  auto next = in_background([&] {
    lock.lock();
    EXPECT_TRUE(lock.held().valid());
    lock.unlock();
  });
  ASSERT_TRUE(
      eventually([&] { return !this->raw().holding(this->name()).empty(); }));  // it has the lock, but not the object
  EXPECT_EQ(next.wait_for(0s), std::future_status::timeout);
  EXPECT_FALSE(lock.held().valid());
  lock.unlock();
  soon(next);
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
