// The engine is away for a while: paused, or killed and started again.
#include "contract/api/fixture.hpp"
#include "contract/api/pulse.hpp"

namespace contract {
namespace {

template <class Kind>
class outage : public contract_of<Kind> {
 protected:
  void SetUp() override {
    contract_of<Kind>::SetUp();
    if (!this->engine.there()) GTEST_SKIP() << no_server;
  }
};
TYPED_TEST_SUITE(outage, blocking_kinds);

TYPED_TEST(outage, longer_than_the_validity_loses_the_hold_in_time) {
  auto c = this->connect({.request_timeout = 500ms});
  auto lock = this->make(c, {.ttl = 2s});
  pulse machine;
  auto h = lock.acquire();
  loss_witness told{h};
  this->engine.pause();
  EXPECT_TRUE(wait_for_loss(h.lost(), 2s + slack));
  EXPECT_TRUE(told.in_time(machine, 2s));
  EXPECT_FALSE(h.valid());
  this->engine.resume();
  EXPECT_TRUE(took(lock.try_acquire_for(patience)));
}

TYPED_TEST(outage, shorter_than_the_validity_costs_nothing) {
  auto c = this->connect({.request_timeout = 300ms});
  auto h = this->make(c, {.ttl = 20s}).acquire();
  auto other = this->connect({.request_timeout = 300ms});
  auto theirs = this->make(other);
  this->engine.pause();
  tyer::failure why;
  EXPECT_FALSE(took(theirs.try_acquire(why)));
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_TRUE(h.valid());
  this->engine.resume();
  EXPECT_TRUE(eventually([&] { return took(theirs.try_acquire(why)) || !why; }));
  EXPECT_TRUE(h.valid());
  EXPECT_EQ(h.release(), tyer::release_outcome::released);
}

TYPED_TEST(outage, a_try_is_bounded_by_the_request_timeout) {
  auto c = this->connect({.request_timeout = 300ms});
  auto lock = this->make(c);
  this->engine.pause();
  const stopwatch watch;
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.try_acquire()); }), errc::unavailable);
  EXPECT_GE(watch.elapsed(), 290ms);
  EXPECT_LT(watch.elapsed(), 300ms + slack);
  this->engine.resume();
}

TYPED_TEST(outage, looked_like_contention_to_a_try_beside_one_who_still_asks) {
  auto c = this->connect({.request_timeout = 500ms});
  auto lock = this->make(c);
  this->engine.pause();
  auto other = acquire_later(lock);
  tyer::failure why;
  EXPECT_FALSE(took(lock.try_acquire(why)));
  EXPECT_EQ(why.code, errc::unavailable);
  this->engine.resume();
  EXPECT_TRUE(took(soon(other.done).hold));
}

TYPED_TEST(outage, looked_like_contention_behind_one_who_gave_back) {
  auto c = this->connect({.request_timeout = 300ms});
  auto lock = this->make(c, {.ttl = 60s});
  auto mine = lock.acquire();
  this->engine.pause();
  auto waits = in_background([&] {
    tyer::failure why;
    static_cast<void>(lock.try_acquire_for(why, 3s));
    return why.code;
  });
  { const auto gone = std::move(mine); }
  EXPECT_EQ(soon(waits), errc::unavailable);
  this->engine.resume();
}

TYPED_TEST(outage, looked_like_contention_to_a_wait_with_a_limit) {
  auto c = this->connect({.request_timeout = 100ms, .unavailable_after = 200ms});
  auto lock = this->make(c);
  this->engine.pause();
  const stopwatch watch;
  tyer::failure why;
  EXPECT_FALSE(took(lock.try_acquire_for(why, 700ms)));
  EXPECT_EQ(why.code, errc::unavailable) << why.words;
  EXPECT_GE(watch.elapsed(), 700ms);
  EXPECT_LT(watch.elapsed(), 700ms + slack);
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.try_acquire_for(100ms)); }), errc::unavailable);
  this->engine.resume();
}

TYPED_TEST(outage, that_begins_in_the_queue_is_no_contention_either) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto a = this->connect(), b = this->connect({.request_timeout = 100ms});
  auto h = this->make(a, {.ttl = 60s}).acquire();
  auto lock = this->make(b, {.ttl = 60s, .waiter_ttl = 300ms});
  tyer::failure why;
  for (auto limit = 3s;; limit *= 2) {
    const stopwatch watch;
    auto waiting = in_background([&] { return lock.try_acquire_for(why, limit); });
    const bool queued = eventually([&] {
      const auto names = TypeParam::names(this->name());
      return std::ranges::any_of(names, [&](const auto& n) { return !this->raw().waiting(n).empty(); });
    });
    this->engine.pause();
    const bool early = watch.elapsed() < limit / 3;  // so that much of the limit is spent without the engine
    EXPECT_FALSE(took(soon(waiting, patience + limit)));
    this->engine.resume();
    ASSERT_TRUE(queued);
    if (early) break;
    ASSERT_LT(limit, 20s) << "each time the engine was stopped too late";
  }
  EXPECT_EQ(why.code, errc::unavailable) << why.words;
}

// "Somebody else has it", said the first example of the documentation where nobody listened at all.
TYPED_TEST(outage, at_a_dead_port_is_not_somebody_else) {
  auto c = this->connect({.request_timeout = 300ms});
  auto lock = this->make(c);
  this->engine.kill();
  tyer::failure why;
  EXPECT_FALSE(took(lock.try_acquire_for(why, 500ms)));
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_NE(why.words, "");
  this->engine.restart();
  EXPECT_TRUE(eventually([&] { return took(lock.try_acquire_for(why, 1s)); }));
}

TYPED_TEST(outage, a_wait_without_a_limit_gives_up_after_unavailable_after) {
  auto c = this->connect({.request_timeout = 100ms, .unavailable_after = 400ms});
  auto lock = this->make(c);
  this->engine.pause();
  const stopwatch watch;
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.acquire()); }), errc::unavailable);
  EXPECT_GE(watch.elapsed(), 390ms);
  EXPECT_LT(watch.elapsed(), 400ms + slack);
  this->engine.resume();
  // And what was sent meanwhile is not in the way. To connect again may take longer than this client waits at a time.
  EXPECT_TRUE(eventually([&] {
    tyer::failure why;
    return took(lock.acquire(why));
  }));
}

TYPED_TEST(outage, a_wait_lasts_through_a_restart) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto a = this->connect(), b = this->connect();
  auto h = this->make(a, {.ttl = 3s}).acquire();
  const auto token = h.token();
  auto lock = this->make(b, {.ttl = 3s});
  auto waiting = acquire_later(lock);
  ASSERT_TRUE(this->queue_has(1));
  this->engine.kill();
  this->engine.restart();
  // With or without its data: the hold goes on or is told to be lost, and the waiter gets its turn.
  const bool lost = eventually([&] { return h.lost().stop_requested(); }, 3s);
  if (!lost) h.release();
  auto got = soon(waiting.done);
  EXPECT_TRUE(got.hold.valid()) << got.why.words;
  EXPECT_GT(got.hold.token(), token);
}

TYPED_TEST(outage, a_client_made_while_the_engine_is_away_gets_there) {
  this->engine.kill();
  tyer::client c{engine_uri(), {.request_timeout = 500ms}};
  EXPECT_FALSE(c.wait_ready(200ms));
  tyer::failure why;
  EXPECT_FALSE(c.wait_ready(why, 1ms));
  EXPECT_EQ(why.code, errc::unavailable);
  auto lock = this->make(c);
  auto waiting = acquire_later(lock);
  this->engine.restart();
  EXPECT_TRUE(c.wait_ready(patience));
  EXPECT_TRUE(took(soon(waiting.done).hold));
}

}  // namespace
}  // namespace contract
