// What is special about a lock that its own thread may lock again.
#include "contract/api/fixture.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace contract {
namespace {

class recursive : public contract_of<recursive_kind> {
 protected:
  static inline const tyer::lock_options options{.ttl = 60s};
  tyer::client a = connect(), b = connect();
  tyer::recursive_mutex lock{a, name(), options};
  tyer::mutex elsewhere{b, name(), options};
};

TEST_F(recursive, counts_and_is_free_when_it_was_unlocked_as_often) {
  if (!can().token) GTEST_SKIP() << no_token;
  EXPECT_EQ(lock.depth(), 0U);
  {
    const std::scoped_lock one{lock};
    const auto token = lock.held().token();
    {
      const std::scoped_lock two{lock};
      EXPECT_TRUE(lock.try_lock());
      EXPECT_TRUE(lock.try_lock_for(1s));
      EXPECT_TRUE(lock.try_lock_until(steady_clock::now()));
      EXPECT_EQ(lock.depth(), 5U);
      EXPECT_EQ(lock.held().token(), token);
      for (int i = 0; i < 3; ++i) lock.unlock();
    }
    EXPECT_EQ(lock.depth(), 1U);
    EXPECT_FALSE(took(elsewhere.try_acquire()));
  }
  EXPECT_EQ(lock.depth(), 0U);
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.held()); }), errc::not_held);
  EXPECT_TRUE(took(elsewhere.try_acquire_for(patience)));
}

TEST_F(recursive, coming_again_asks_nobody) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  const std::scoped_lock one{lock};
  engine.pause();
  const stopwatch watch;
  for (int i = 0; i < 1000; ++i) {
    const std::scoped_lock again{lock};
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
  }
  EXPECT_LT(watch.elapsed(), slack);
  engine.resume();
}

TEST_F(recursive, another_thread_waits_until_the_last_unlock) {
  lock.lock();
  lock.lock();
  std::atomic<bool> tried{false};
  auto other = in_background([&] {
    EXPECT_EQ(lock.depth(), 0U);
    EXPECT_EQ(code_of([&] { static_cast<void>(lock.held()); }), errc::not_held);
    EXPECT_FALSE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock_for(20ms));
    tried = true;
    const std::scoped_lock guard{lock};
    EXPECT_EQ(lock.depth(), 1U);
    return lock.held().valid();
  });
  ASSERT_TRUE(eventually([&] { return tried.load(); }));
  lock.unlock();
  EXPECT_EQ(other.wait_for(20ms), std::future_status::timeout);
  lock.unlock();
  EXPECT_TRUE(soon(other));
}

TEST_F(recursive, another_object_of_the_name_made_its_own_thread_wait_for_itself) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  tyer::recursive_mutex same{a, name(), {.ttl = 30s}};
  lock.lock();
  const auto id = lock.held().id();
  engine.pause();  // nobody is asked
  EXPECT_TRUE(same.try_lock());
  EXPECT_TRUE(same.try_lock_for(1s));
  same.lock();
  EXPECT_EQ(same.depth(), 4U);
  EXPECT_EQ(same.held().id(), id);
  lock.unlock();  // in any order
  same.unlock();
  same.unlock();
  EXPECT_EQ(lock.depth(), 1U);
  engine.resume();
  EXPECT_FALSE(took(elsewhere.try_acquire()));
  same.unlock();
  EXPECT_EQ(lock.depth(), 0U);
  EXPECT_TRUE(took(elsewhere.try_acquire_for(patience)));
}

TEST_F(recursive, objects_of_two_clients_are_two_contenders) {
  tyer::recursive_mutex other{b, name(), options};
  const std::scoped_lock guard{lock};
  EXPECT_FALSE(other.try_lock());
  EXPECT_FALSE(other.try_lock_for(20ms));
}

TEST_F(recursive, a_lost_hold_is_not_entered_again) {
  lock.lock();
  lock.lock();
  break_it();
  ASSERT_TRUE(wait_for_loss(lock.held().lost()));
  EXPECT_EQ(code_of([&] { lock.lock(); }), errc::lost);
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.try_lock()); }), errc::lost);
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.try_lock_for(1s)); }), errc::lost);
  EXPECT_EQ(lock.depth(), 2U);

  // Elsewhere it is free; here it belongs to this thread until it has unlocked twice.
  EXPECT_TRUE(took(elsewhere.try_acquire_for(patience)));
  auto other = in_background([&] {
    const std::scoped_lock guard{lock};
    return lock.held().valid();
  });
  lock.unlock();
  EXPECT_EQ(lock.depth(), 1U);
  EXPECT_EQ(other.wait_for(20ms), std::future_status::timeout);
  lock.unlock();
  EXPECT_TRUE(soon(other));
  lock.lock();  // and it can be had again
  EXPECT_TRUE(lock.held().valid());
  lock.unlock();
}

TEST_F(recursive, threads_that_come_again_never_meet) {
  tyer::recursive_mutex in_b{b, name()};
  std::atomic<int> inside{0}, turns{0};
  const auto work = [&](tyer::recursive_mutex& m) {
    for (int i = 0; i < 20; ++i) {
      const std::scoped_lock outer{m};
      EXPECT_EQ(inside.fetch_add(1), 0);
      {
        const std::scoped_lock inner{m};
        ++turns;
      }
      inside.fetch_sub(1);
    }
  };
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < 3; ++t) {
      all.emplace_back([&] { work(lock); });
      all.emplace_back([&] { work(in_b); });
    }
  }
  EXPECT_EQ(turns.load(), 120);
}

}  // namespace
}  // namespace contract
