#include "contract/api/fixture.hpp"

#include <vector>

namespace contract {
namespace {

template <class Kind>
class cancel : public contract_of<Kind> {
 protected:
  // Long, so that anything left behind would be seen to be in the way.
  static inline const tyer::lock_options long_lived{.ttl = 60s, .waiter_ttl = 30s};
};
TYPED_TEST_SUITE(cancel, blocking_kinds);

TYPED_TEST(cancel, asked_for_before_the_call_nothing_is_taken) {
  auto c = this->connect();
  auto lock = this->make(c, this->long_lived);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.acquire(stop.get_token())); }), errc::cancelled);
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.acquire(stop.get_token())); }), std::errc::operation_canceled);
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.try_acquire_for(1s, stop.get_token())); }), errc::cancelled);
  tyer::failure why;
  EXPECT_FALSE(took(lock.acquire(why, stop.get_token())));
  EXPECT_EQ(why.code, errc::cancelled);
  EXPECT_TRUE(this->raw().entries(this->name()).empty());
}

TYPED_TEST(cancel, a_cancelled_waiter_leaves_nothing_behind) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto a = this->connect(), b = this->connect(), c = this->connect();
  auto lock_a = this->make(a, this->long_lived), lock_b = this->make(b, this->long_lived);
  auto lock_c = this->make(c, this->long_lived);
  auto h = lock_a.acquire();
  std::stop_source stop;
  auto waiter = in_background([&] { return code_of([&] { static_cast<void>(lock_b.acquire(stop.get_token())); }); });
  ASSERT_TRUE(this->queue_has(1));
  const stopwatch watch;
  stop.request_stop();
  EXPECT_EQ(soon(waiter), errc::cancelled);
  EXPECT_LT(watch.elapsed(), slack);
  EXPECT_TRUE(this->queue_has(0));

  h.release();
  const stopwatch next;
  EXPECT_TRUE(took(lock_c.acquire()));
  EXPECT_LT(next.elapsed(), slack);
}

template <class Kind>
class local_cancel : public cancel<Kind> {};
TYPED_TEST_SUITE(local_cancel, exclusive_kinds);

TYPED_TEST(local_cancel, a_cancelled_local_waiter_is_skipped) {
  auto c = this->connect();
  auto lock = this->make(c, this->long_lived);
  auto h = lock.acquire();
  auto first = acquire_later(lock), second = acquire_later(lock), third = acquire_later(lock);
  second.handle->cancel();
  const auto none = soon(second.done);
  EXPECT_EQ(none.why.code, errc::cancelled);
  EXPECT_FALSE(none.hold);
  h.release();
  auto one = soon(first.done);
  ASSERT_TRUE(one.hold);
  EXPECT_EQ(third.done.wait_for(0s), std::future_status::timeout);
  one.hold.release();
  EXPECT_TRUE(took(soon(third.done).hold));
}

TYPED_TEST(local_cancel, the_first_of_the_waiters_leaves_its_place_to_the_next_one_of_its_client) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto a = this->connect(), b = this->connect(), c = this->connect();
  auto lock_a = this->make(a, this->long_lived), lock_b = this->make(b, this->long_lived);
  auto lock_c = this->make(c, this->long_lived);
  auto h = lock_a.acquire();
  auto first = acquire_later(lock_b), second = acquire_later(lock_b);
  ASSERT_TRUE(this->queue_has(1));
  auto behind = acquire_later(lock_c);
  ASSERT_TRUE(this->queue_has(2));
  first.handle->cancel();
  EXPECT_EQ(soon(first.done).why.code, errc::cancelled);
  h.release();
  auto got = soon(second.done);
  EXPECT_TRUE(got.hold);
  EXPECT_EQ(behind.done.wait_for(0s), std::future_status::timeout);
  got.hold.release();
  EXPECT_TRUE(took(soon(behind.done).hold));
}

TYPED_TEST(local_cancel, whenever_it_comes_the_lock_is_either_had_or_free) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a, this->long_lived), lock_b = this->make(b, this->long_lived);
  for (int i = 0; i < 60; ++i) {
    auto h = lock_a.acquire();
    auto waiting = acquire_later(lock_b);
    if (i % 3 == 0) {
      ASSERT_TRUE(this->queue_has(1));
    }
    std::jthread releasing{[&] { h.release(); }};
    if (i % 2 == 0) std::this_thread::yield();
    waiting.handle->cancel();
    auto got = soon(waiting.done);
    EXPECT_TRUE(got.hold ? !got.why : got.why.code == errc::cancelled) << got.why.words;
    got.hold = {};
    releasing.join();
    const stopwatch watch;
    EXPECT_TRUE(took(lock_a.try_acquire_for(patience)));
    EXPECT_LT(watch.elapsed(), slack);
  }
}

TYPED_TEST(local_cancel, of_something_that_is_over_does_nothing) {
  auto c = this->connect();
  auto lock = this->make(c);
  auto call = acquire_later(lock);
  auto got = soon(call.done);
  ASSERT_TRUE(got.hold);
  call.handle->cancel();
  EXPECT_FALSE(took(lock.try_acquire()));  // behind the cancellation, and the lock is still ours
  EXPECT_TRUE(got.hold.valid());
  EXPECT_EQ(got.hold.release(), tyer::release_outcome::released);
}

}  // namespace
}  // namespace contract
