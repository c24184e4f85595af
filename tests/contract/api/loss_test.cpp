#include "contract/api/fixture.hpp"

#include <thread>

namespace contract {
namespace {

template <class Kind>
class loss : public contract_of<Kind> {};
TYPED_TEST_SUITE(loss, blocking_kinds);

TYPED_TEST(loss, a_broken_hold_is_told_and_is_over) {
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 60s});
  auto h = lock.acquire();
  const auto token = this->can().token ? h.token() : 0;
  ASSERT_FALSE(h.lost().stop_requested());
  this->break_it();
  const stopwatch watch;
  EXPECT_TRUE(wait_for_loss(h.lost()));
  EXPECT_LT(watch.elapsed(), slack);  // by push, long before the next renewal
  EXPECT_FALSE(h.valid());
  EXPECT_EQ(h.remaining(), 0s);
  EXPECT_TRUE(h);
  EXPECT_TRUE(token == 0 || h.token() == token);
  EXPECT_EQ(h.release(), tyer::release_outcome::already_gone);
}

TYPED_TEST(loss, the_lock_can_be_taken_again) {
  if (!this->can().token) GTEST_SKIP() << no_token;
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 60s});
  auto h = lock.acquire();
  this->break_it();
  ASSERT_TRUE(wait_for_loss(h.lost()));
  auto again = lock.acquire();
  EXPECT_TRUE(again.valid());
  EXPECT_GT(again.token(), h.token());
  h = {};  // giving back the old one does not touch the new one
  auto other = this->connect();
  EXPECT_FALSE(took(this->make(other).try_acquire()));
  EXPECT_TRUE(again.valid());
}

TYPED_TEST(loss, breaking_a_hold_never_breaks_the_next_one) {
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 60s, .local_handoffs = 0});
  auto h = lock.acquire();
  const auto old = this->raw().holding(this->name());
  ASSERT_EQ(old.size(), 1U);
  h.release();
  auto next = lock.acquire();
  EXPECT_EQ(this->raw().evict(old.front()), tyer::engine::fate::gone);
  EXPECT_FALSE(took(lock.try_acquire()));
  EXPECT_TRUE(next.valid());
}

TYPED_TEST(loss, a_waiter_gets_what_was_broken) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a, {.ttl = 60s}), lock_b = this->make(b, {.ttl = 60s});
  auto h = lock_a.acquire();
  auto waiter = in_background([&] { return lock_b.acquire(); });
  ASSERT_TRUE(this->queue_has(1));
  this->break_it();
  EXPECT_TRUE(soon(waiter).valid());
  EXPECT_TRUE(wait_for_loss(h.lost()));
}

TYPED_TEST(loss, a_local_waiter_gets_what_was_broken) {
  if (!this->can().token) GTEST_SKIP() << no_token;
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 60s});
  auto h = lock.acquire();
  auto waiter = acquire_later(lock);
  this->break_it();
  EXPECT_TRUE(wait_for_loss(h.lost()));
  auto got = soon(waiter.done);
  EXPECT_TRUE(got.hold.valid());
  EXPECT_GT(got.hold.token(), h.token());
}

TYPED_TEST(loss, a_lost_hold_is_not_handed_off) {
  if (!this->can().token) GTEST_SKIP() << no_token;
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 60s});
  auto h = lock.acquire();
  this->break_it();
  ASSERT_TRUE(wait_for_loss(h.lost()));
  auto other = this->connect();
  auto theirs = this->make(other, {.ttl = 60s}).acquire();
  const auto their_token = theirs.token();
  auto waiter = acquire_later(lock);
  h.release();
  EXPECT_FALSE(took(lock.try_acquire()));
  EXPECT_EQ(waiter.done.wait_for(0s), std::future_status::timeout);
  theirs.release();
  const auto mine = soon(waiter.done);
  EXPECT_GT(mine.hold.token(), their_token);
}

TYPED_TEST(loss, blocking_calls_are_refused_inside_its_callback) {
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 60s});
  auto other_lock = this->make_as(c, this->name() + "/other");
  auto another = other_lock.acquire();
  auto h = lock.acquire();
  std::promise<void> done;
  const std::stop_callback callback{
      h.lost(), [&] {
        EXPECT_EQ(code_of([&] { static_cast<void>(lock.acquire()); }), errc::would_deadlock);
        EXPECT_EQ(code_of([&] { static_cast<void>(lock.try_acquire()); }), errc::would_deadlock);
        EXPECT_EQ(code_of([&] { static_cast<void>(lock.try_acquire_for(1s)); }),
                  std::errc::resource_deadlock_would_occur);
        EXPECT_EQ(code_of([&] { static_cast<void>(c.wait_ready(1s)); }), errc::would_deadlock);
        EXPECT_EQ(another.release(), tyer::release_outcome::unknown);  // but it is given back
        done.set_value();
      }};
  this->break_it();
  soon(done.get_future());
  EXPECT_TRUE(took(other_lock.try_acquire_for(patience)));
}

TYPED_TEST(loss, its_callback_may_start_asynchronous_calls_and_let_holds_go) {
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 60s});
  auto other = this->make_as(c, this->name() + "/other");
  auto another = other.acquire();
  auto h = lock.acquire();
  std::promise<decltype(acquire_later(other))> begun;
  const std::stop_callback callback{h.lost(), [&] {
                                      another = {};
                                      begun.set_value(acquire_later(other));
                                    }};
  this->break_it();
  auto call = soon(begun.get_future());
  EXPECT_TRUE(took(soon(call.done).hold));
}

TYPED_TEST(loss, a_callback_that_comes_too_late_runs_at_once) {
  auto c = this->connect();
  auto h = this->make(c, {.ttl = 60s}).acquire();
  this->break_it();
  ASSERT_TRUE(wait_for_loss(h.lost()));
  bool told = false;
  const std::stop_callback callback{h.lost(), [&] { told = true; }};
  EXPECT_TRUE(told);
}

TYPED_TEST(loss, giving_back_in_time_is_not_a_loss) {
  auto c = this->connect();
  auto lock = this->make(c);
  auto h = lock.acquire();
  const auto lost = h.lost();
  EXPECT_TRUE(lost.stop_possible());
  h.release();
  lock.acquire().release();
  EXPECT_FALSE(lost.stop_requested());
  EXPECT_FALSE(h.lost().stop_possible());  // empty: it never will be
}

// Asking the engine now.
class confirming : public contract_of<mutex_kind> {
 protected:
  tyer::failure why;
};

TEST_F(confirming, a_hold_that_stands_is_renewed_by_it) {
  auto c = connect();
  const auto h = make(c, {.ttl = 60s}).acquire();
  std::this_thread::sleep_for(5ms);
  const auto before = h.valid_until();
  EXPECT_TRUE(h.confirm());
  EXPECT_GE(h.valid_until(), before);
  EXPECT_TRUE(h.valid());
}

TEST_F(confirming, says_at_once_that_a_hold_was_broken) {
  auto c = connect();
  for (int i = 0; i < 10; ++i) {
    auto h = make(c, {.ttl = 60s}).acquire();
    ASSERT_TRUE(h.confirm());
    break_it();
    EXPECT_FALSE(h.confirm(why)) << "whether or not it was told already";
    EXPECT_FALSE(why) << why.message();
    EXPECT_FALSE(h.valid());
  }
}

TEST_F(confirming, takes_silence_neither_for_yes_nor_for_no) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  auto c = connect({.request_timeout = 500ms});
  const auto h = make(c, {.ttl = 60s}).acquire();
  engine.pause();
  const stopwatch watch;
  EXPECT_FALSE(h.confirm(why));
  EXPECT_TRUE(why) << "an engine that is silent has confirmed nothing";
  EXPECT_LT(watch.elapsed(), 1s + slack);
  EXPECT_TRUE(h.valid());
  engine.resume();
  EXPECT_TRUE(eventually([&] { return h.confirm(why); }));
}

class asked_to_give_back : public contract_of<mutex_kind> {};

TEST_F(asked_to_give_back, a_release_in_the_callback_ended_the_process) {
  auto c = connect(), other = connect();
  auto lock = make(c, {.ttl = 60s});
  auto h = lock.acquire();
  std::promise<tyer::release_outcome> given;
  const std::stop_callback gives{h.revoked(), [&] { given.set_value(h.release()); }};
  ASSERT_EQ(other.ask(name()), 1U);
  EXPECT_EQ(soon(given.get_future()), tyer::release_outcome::unknown) << "it is not waited for";
  EXPECT_TRUE(took(make(other).try_acquire_for(patience)));
}

}  // namespace
}  // namespace contract
