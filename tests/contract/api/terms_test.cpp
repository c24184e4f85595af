// The terms of a hold, the same for every kind of lock: how long at least, how long at most, how long after a loss; and
// being asked to give it back.
#include "contract/api/child.hpp"
#include "contract/api/fixture.hpp"
#include "contract/api/pulse.hpp"

#include <signal.h>

namespace contract {
namespace {

template <class Kind>
class terms : public contract_of<Kind> {};
TYPED_TEST_SUITE(terms, exclusive_kinds);

// ---- min_hold

TYPED_TEST(terms, given_back_early_it_stays_taken_until_its_min_hold_is_over) {
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a, {.ttl = 60s, .min_hold = 300ms});
  auto other = this->make(b, {.ttl = 60s});
  const stopwatch watch;
  auto h = lock.acquire();
  const stopwatch giving;
  EXPECT_EQ(h.release(), tyer::release_outcome::released);
  EXPECT_LT(giving.elapsed(), 250ms + slack);
  EXPECT_TRUE(!took(other.try_acquire()) || watch.elapsed() >= 300ms);
  auto next = other.acquire();
  EXPECT_GE(watch.elapsed(), 300ms);
  EXPECT_LT(watch.elapsed(), 300ms + slack);
}

TYPED_TEST(terms, a_waiter_of_the_same_client_waits_for_the_min_hold_too) {
  auto a = this->connect();
  auto lock = this->make(a, {.ttl = 60s, .min_hold = 200ms});
  const stopwatch watch;
  auto h = lock.acquire();
  h = {};
  EXPECT_TRUE(!took(lock.try_acquire()) || watch.elapsed() >= 200ms);
  EXPECT_TRUE(took(lock.try_acquire_for(patience)));
  EXPECT_GE(watch.elapsed(), 200ms);
}

TYPED_TEST(terms, held_for_longer_than_its_min_hold_it_is_free_at_once) {
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a, {.ttl = 60s, .min_hold = 50ms});
  auto h = lock.acquire();
  const stopwatch watch;
  ASSERT_TRUE(eventually([&] { return watch.elapsed() > 60ms; }));
  h.release();
  EXPECT_TRUE(took(this->make(b).try_acquire()));
}

TYPED_TEST(terms, a_client_that_is_closed_leaves_it_taken_until_the_min_hold_is_over) {
  auto b = this->connect();
  auto other = this->make(b);
  const stopwatch watch;
  {
    auto a = this->connect();
    auto h = this->make(a, {.ttl = 1s, .min_hold = 1500ms}).acquire();
  }
  EXPECT_TRUE(!took(other.try_acquire()) || watch.elapsed() >= 1500ms);
  auto next = other.acquire();
  EXPECT_GE(watch.elapsed(), 1500ms);
  EXPECT_LT(watch.elapsed(), 2500ms + slack);  // at the longest a ttl longer
}

// ---- max_hold

TYPED_TEST(terms, after_its_max_hold_it_is_lost_and_goes_to_others) {
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a, {.ttl = 2s, .max_hold = 1s});
  auto other = this->make(b);
  pulse machine;
  auto h = lock.acquire();
  const auto end = h.valid_until();
  EXPECT_LE(end, tyer::lease_clock::now() + 1s);
  loss_witness told{h};
  auto next = other.acquire();
  const auto granted = tyer::lease_clock::now();
  EXPECT_GE(granted, end);
  EXPECT_LT(granted, end + slack + machine.late(end, granted));
  EXPECT_TRUE(h.lost().stop_requested());
  EXPECT_TRUE(told.in_time(machine, 2s));
  EXPECT_FALSE(h.valid());
  EXPECT_TRUE(next.valid());
}

// ---- lock_delay

TYPED_TEST(terms, released_cleanly_there_is_no_lock_delay) {
  if (!this->can().lock_delay) GTEST_SKIP() << no_lock_delay;
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a, {.ttl = 60s, .lock_delay = 1h}), other = this->make(b, {.ttl = 60s, .lock_delay = 1h});
  lock.acquire().release();
  auto h = other.try_acquire();
  EXPECT_TRUE(h);
  h = {};
  EXPECT_TRUE(took(lock.try_acquire_for(patience)));
}

TYPED_TEST(terms, after_a_loss_others_wait_for_the_lock_delay_or_until_the_owner_has_stopped) {
  if (!this->can().token) GTEST_SKIP() << no_token;
  if (!this->can().lock_delay) GTEST_SKIP() << no_lock_delay;
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a, {.ttl = 60s, .lock_delay = 1h}), other = this->make(b, {.ttl = 60s});
  auto h = lock.acquire();
  const auto token = h.token();
  auto waiting = acquire_later(other);
  ASSERT_TRUE(this->queue_has(1));
  this->break_it();
  ASSERT_TRUE(wait_for_loss(h.lost()));
  EXPECT_EQ(waiting.done.wait_for(50ms), std::future_status::timeout);
  h.release();  // says that it has stopped
  const stopwatch watch;
  const auto got = soon(waiting.done);
  EXPECT_GT(got.hold.token(), token);
  EXPECT_LT(watch.elapsed(), slack);
}

TYPED_TEST(terms, after_a_loss_the_lock_delay_ends_by_itself) {
  if (!this->can().lock_delay) GTEST_SKIP() << no_lock_delay;
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a, {.ttl = 60s, .lock_delay = 400ms});
  auto other = this->make(b);
  auto h = lock.acquire();
  const stopwatch watch;
  this->break_it();
  EXPECT_TRUE(!took(other.try_acquire()) || watch.elapsed() >= 400ms);
  auto next = other.acquire();
  EXPECT_GE(watch.elapsed(), 400ms);
  EXPECT_LT(watch.elapsed(), 400ms + slack);
  h = {};
  EXPECT_TRUE(next.valid());
}

// ---- ask

TYPED_TEST(terms, whoever_holds_it_may_be_asked_to_give_it_back) {
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a, {.ttl = 60s});
  EXPECT_EQ(b.ask(this->name()), 0U);
  auto h = lock.acquire();
  const auto revoked = h.revoked();
  EXPECT_FALSE(revoked.stop_requested());
  EXPECT_EQ(b.ask(this->name(), "a bigger job"), 1U);
  EXPECT_TRUE(wait_for_loss(revoked, slack));
  EXPECT_TRUE(h.valid());  // nothing is taken
  EXPECT_FALSE(h.lost().stop_requested());
  EXPECT_TRUE(h.revoked().stop_requested());
  h.release();
  auto next = lock.acquire();
  EXPECT_FALSE(next.revoked().stop_requested());
}

TYPED_TEST(terms, whoever_looks_only_after_it_was_asked_sees_it_too) {
  auto a = this->connect(), b = this->connect();
  auto h = this->make(a, {.ttl = 60s}).acquire();
  EXPECT_EQ(b.ask(this->name()), 1U);
  EXPECT_TRUE(eventually([&] { return h.revoked().stop_requested(); }));
}

TYPED_TEST(terms, what_was_asked_for_is_not_handed_off_inside_the_client) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto x = this->connect(), a = this->connect(), b = this->connect();
  auto others = this->make(x, {.ttl = 60s}), lock = this->make(a, {.ttl = 60s}), wanting = this->make(b, {.ttl = 60s});
  auto held = others.acquire();
  auto first = acquire_later(lock), second = acquire_later(lock);
  ASSERT_TRUE(this->queue_has(1));
  auto wants = acquire_later(wanting);
  ASSERT_TRUE(this->queue_has(2));
  held.release();
  auto h = soon(first.done).hold;
  ASSERT_EQ(b.ask(this->name()), 1U);
  ASSERT_TRUE(wait_for_loss(h.revoked()));
  h.release();
  auto theirs = soon(wants.done).hold;  // they have it, not the second one
  EXPECT_TRUE(theirs.valid());
  EXPECT_EQ(second.done.wait_for(0s), std::future_status::timeout);
  theirs.release();
  EXPECT_TRUE(took(soon(second.done).hold));
}

class asking : public fixture {};

TEST_F(asking, reaches_every_reader_and_every_permit) {
  if (!can().shared || !can().permits) GTEST_SKIP() << no_such_lock;
  auto a = connect(), b = connect(), c = connect();
  tyer::shared_mutex in_a{a, name()}, in_b{b, name()};
  auto one = in_a.shared().acquire(), two = in_b.shared().acquire();
  EXPECT_EQ(c.ask(name()), 2U);
  EXPECT_TRUE(wait_for_loss(one.revoked()) && wait_for_loss(two.revoked()));
}

TEST_F(asking, of_a_name_that_is_none_or_a_client_that_is_closed_fails) {
  auto a = connect();
  EXPECT_EQ(code_of([&] { a.ask(""); }), errc::invalid_name);
  a.close();
  tyer::failure why;
  EXPECT_EQ(a.ask(why, name()), 0U);
  EXPECT_EQ(why.code, errc::closed);
}

TEST_F(asking, is_answered_before_a_callback_that_gives_it_back) {
  if (!can().queue) GTEST_SKIP() << no_queue;
  auto a = connect(), b = connect();
  tyer::mutex lock{a, name(), {.ttl = 60s}}, other{b, name()};
  auto h = lock.acquire();
  const std::stop_callback polite{h.revoked(), [&] { h = {}; }};
  auto waiting = acquire_later(other);
  ASSERT_TRUE(queue_has(1));
  b.ask(name());
  EXPECT_TRUE(took(soon(waiting.done).hold));
}

// ---- death of a holder with a lock delay

class delayed_death : public fixture {
 protected:
  void SetUp() override {
    if (!engine.there()) GTEST_SKIP() << no_server;
    if (!can().lock_delay) GTEST_SKIP() << no_lock_delay;
  }
};

TEST_F(delayed_death, nobody_has_it_before_ttl_and_delay_are_over) {
  auto a = connect();
  child holder{{.name = name(), .ttl = 1s, .lock_delay = 500ms}};
  ASSERT_TRUE(holder.line_with("held", patience));
  tyer::mutex lock{a, name()};
  holder.kill();
  const stopwatch watch;
  auto h = lock.acquire();
  EXPECT_GE(watch.elapsed(), 500ms + 1000ms / 2);  // it was renewed a third of the ttl before, or a little longer
  EXPECT_LT(watch.elapsed(), 1500ms + slack);
}

TEST_F(delayed_death, a_stopped_holder_that_goes_on_and_gives_it_back_ends_the_delay) {
  auto a = connect();
  child holder{{.name = name(), .ttl = 1s, .lock_delay = 600s}};
  ASSERT_TRUE(holder.line_with("held", patience));
  tyer::mutex lock{a, name()};
  holder.signal(SIGSTOP);
  EXPECT_FALSE(took(lock.try_acquire_for(1200ms)));
  holder.signal(SIGCONT);
  ASSERT_TRUE(holder.line_with("lost", std::chrono::milliseconds{slack}));
  holder.release();
  EXPECT_TRUE(took(lock.try_acquire_for(patience)));
}

}  // namespace
}  // namespace contract
