#include "contract/api/fixture.hpp"

namespace contract {
namespace {

template <class Kind>
class timed : public contract_of<Kind> {};
TYPED_TEST_SUITE(timed, blocking_kinds);

TYPED_TEST(timed, one_attempt_gets_a_free_lock_and_is_refused_a_held_one_at_once) {
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a), lock_b = this->make(b);
  tyer::failure why;
  auto h = lock_a.try_acquire(why);
  ASSERT_TRUE(h);
  EXPECT_FALSE(why);

  const stopwatch watch;
  EXPECT_FALSE(took(lock_b.try_acquire(why)));  // contention is a value
  EXPECT_FALSE(why);
  EXPECT_FALSE(took(lock_a.try_acquire()));
  EXPECT_LT(watch.elapsed(), slack);

  h.release();
  EXPECT_TRUE(took(lock_b.try_acquire()));
}

TYPED_TEST(timed, no_time_is_one_attempt) {
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a), lock_b = this->make(b);
  EXPECT_TRUE(took(lock_a.try_acquire_for(0ns)));
  auto h = lock_a.acquire();
  EXPECT_FALSE(took(lock_b.try_acquire_for(0ns)));
  EXPECT_FALSE(took(lock_b.try_acquire_for(-1h)));
  EXPECT_FALSE(took(lock_b.try_acquire_until(steady_clock::now() - 1s)));
  EXPECT_TRUE(this->raw().waiting(this->name()).empty());
}

TYPED_TEST(timed, a_wait_ends_at_its_limit_with_an_empty_hold) {
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a), lock_b = this->make(b);
  auto h = lock_a.acquire();
  for (auto* lock : {&lock_b, &lock_a}) {  // in the queue of the engine, and in that of the client
    const stopwatch watch;
    tyer::failure why;
    EXPECT_FALSE(took(lock->try_acquire_for(why, 500ms)));
    EXPECT_FALSE(why) << why.words;
    EXPECT_GE(watch.elapsed(), 500ms);
    EXPECT_LT(watch.elapsed(), 500ms + slack);
  }
  EXPECT_TRUE(this->queue_has(0));  // it has left the queue
}

TYPED_TEST(timed, a_limit_may_be_on_any_clock) {
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a), lock_b = this->make(b);
  auto h = lock_a.acquire();
  const stopwatch watch;
  EXPECT_FALSE(took(lock_b.try_acquire_until(steady_clock::now() + 1s)));
  EXPECT_FALSE(took(lock_b.try_acquire_until(std::chrono::system_clock::now() + 1s)));
  EXPECT_FALSE(took(lock_b.try_acquire_until(tyer::lease_clock::now() + 1s)));
  EXPECT_GE(watch.elapsed(), 2999ms);
  EXPECT_LT(watch.elapsed(), 3s + slack);
  h.release();
  EXPECT_TRUE(took(lock_b.try_acquire_until(tyer::lease_clock::now() + patience)));
}

TYPED_TEST(timed, a_wait_gets_what_becomes_free_before_its_limit) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a), lock_b = this->make(b);
  auto h = lock_a.acquire();
  auto waiter = in_background([&] { return lock_b.try_acquire_for(patience); });
  ASSERT_TRUE(this->queue_has(1));
  h.release();
  const stopwatch watch;
  EXPECT_TRUE(soon(waiter).valid());
  EXPECT_LT(watch.elapsed(), slack);
}

TYPED_TEST(timed, a_limit_beyond_the_end_of_time_is_no_limit) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a), lock_b = this->make(b);
  auto h = lock_a.acquire();
  std::stop_source stop;
  auto waiter = in_background([&] {
    tyer::failure why;
    EXPECT_FALSE(took(lock_b.try_acquire_for(why, std::chrono::nanoseconds::max(), stop.get_token())));
    return why.code;
  });
  ASSERT_TRUE(this->queue_has(1));
  stop.request_stop();
  EXPECT_EQ(soon(waiter), errc::cancelled);
  auto another = in_background([&] { return lock_b.try_acquire_until(steady_clock::time_point::max()); });
  ASSERT_TRUE(this->queue_has(1));
  h.release();
  EXPECT_TRUE(took(soon(another)));
}

TYPED_TEST(timed, waits_of_one_client_end_each_at_its_own_limit) {
  auto c = this->connect();
  auto lock = this->make(c);
  auto h = lock.acquire();
  auto shorter = in_background([&] { return lock.try_acquire_for(100ms); });
  auto longer = in_background([&] { return lock.try_acquire_for(patience); });
  EXPECT_FALSE(took(soon(shorter)));
  EXPECT_EQ(longer.wait_for(0s), std::future_status::timeout);
  h.release();
  EXPECT_TRUE(took(soon(longer)));
}

}  // namespace
}  // namespace contract
