// Every lock with a standard face works with the guards, algorithms and condition variables of the standard library.
#include "contract/api/fixture.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace contract {
namespace {

template <class Kind>
class guard : public contract_of<Kind> {
 protected:
  bool is_locked() { return !this->raw().holding(this->name()).empty(); }
  bool becomes_free() {
    return eventually([&] { return !is_locked(); });
  }
};
TYPED_TEST_SUITE(guard, guarded_kinds);

TYPED_TEST(guard, of_every_kind_locks_and_unlocks) {
  auto c = this->connect();
  auto lock = this->make(c);
  {
    const std::lock_guard guard{lock};
    EXPECT_TRUE(this->is_locked());
    EXPECT_TRUE(lock.held().valid());
  }
  EXPECT_TRUE(this->becomes_free());
  {
    const std::scoped_lock guard{lock};
    EXPECT_TRUE(this->is_locked());
  }
  {
    std::unique_lock guard{lock, std::try_to_lock};
    ASSERT_TRUE(guard.owns_lock());
    EXPECT_TRUE(this->is_locked());
    auto moved = std::move(guard);
    EXPECT_TRUE(this->is_locked());
    moved.unlock();
    EXPECT_TRUE(this->becomes_free());
  }
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.held()); }), errc::not_held);
}

TYPED_TEST(guard, with_a_limit_locks_too) {
  if constexpr (requires(typename TypeParam::type& l) { l.try_lock_for(1s); }) {
    auto c = this->connect();
    auto lock = this->make(c);
    std::unique_lock guard{lock, 5s};
    ASSERT_TRUE(guard.owns_lock());
    guard.unlock();
    EXPECT_TRUE(guard.try_lock_for(patience));
    guard.unlock();
    EXPECT_TRUE(guard.try_lock_until(steady_clock::now() + patience));
    EXPECT_TRUE(this->is_locked());
  }
}

TYPED_TEST(guard, a_try_is_refused_while_another_client_has_it) {
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a), other = this->make(b);
  const std::scoped_lock theirs{other};
  const stopwatch watch;
  EXPECT_FALSE(lock.try_lock());
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.held()); }), errc::not_held);
  EXPECT_LT(watch.elapsed(), slack);
}

TYPED_TEST(guard, many_locks_are_taken_without_deadlock) {
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

TYPED_TEST(guard, works_with_a_condition_variable) {
  auto c = this->connect();
  auto lock = this->make(c);
  std::condition_variable_any changed;
  bool ready = false;
  auto waiter = in_background([&] {
    std::unique_lock guard{lock};
    return changed.wait_until(guard, steady_clock::now() + patience, [&] { return ready; });
  });
  {
    const std::scoped_lock guard{lock};
    ready = true;
  }
  changed.notify_all();
  EXPECT_TRUE(soon(waiter));
}

TYPED_TEST(guard, excludes_between_threads_of_one_object) {
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

TYPED_TEST(guard, excludes_between_clients) {
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a), lock_b = this->make(b);
  std::atomic<int> inside{0}, turns{0};
  const auto work = [&](auto& lock) {
    for (int i = 0; i < 25; ++i) {
      const std::scoped_lock guard{lock};
      EXPECT_EQ(inside.fetch_add(1), 0);
      ++turns;
      inside.fetch_sub(1);
    }
  };
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < 3; ++t) {
      all.emplace_back([&] { work(lock_a); });
      all.emplace_back([&] { work(lock_b); });
    }
  }
  EXPECT_EQ(turns.load(), 150);
}

TYPED_TEST(guard, a_closed_client_locks_nothing) {
  auto c = this->connect();
  auto lock = this->make(c);
  c.close();
  EXPECT_EQ(code_of([&] { lock.lock(); }), errc::closed);
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.try_lock()); }), errc::closed);
}

TYPED_TEST(guard, a_loss_leaves_the_object_locked_until_it_is_unlocked) {
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 60s});
  lock.lock();
  for (const auto& held : this->raw().holding(this->name())) this->raw().evict(held);
  ASSERT_TRUE(wait_for_loss(lock.held().lost()));
  EXPECT_FALSE(lock.held().valid());
  auto next = in_background([&] {
    const std::scoped_lock guard{lock};
    EXPECT_TRUE(lock.held().valid());
  });
  EXPECT_EQ(next.wait_for(100ms), std::future_status::timeout);
  EXPECT_TRUE(this->becomes_free());  // it waits for the object, and has nothing meanwhile
  lock.unlock();
  soon(next);
}

}  // namespace
}  // namespace contract
