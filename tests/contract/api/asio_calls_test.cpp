// tyer/asio.hpp: the calls that are not an acquire of one lock.
#include "contract/api/fixture.hpp"

#include <tyer/asio.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <memory>
#include <vector>

namespace contract {
namespace {

namespace asio = boost::asio;

// Runs a coroutine to its end, and throws what it throws.
void run(asio::awaitable<void> coroutine) {
  asio::io_context io;
  std::exception_ptr thrown;
  asio::co_spawn(io, std::move(coroutine), [&](std::exception_ptr e) { thrown = e; });
  io.run_for(patience);
  if (!io.stopped()) throw std::runtime_error("it did not end in time");
  if (thrown) std::rethrow_exception(thrown);
}

class asio_calls : public fixture {};

// ---- confirm

TEST_F(asio_calls, a_hold_is_confirmed_until_it_is_given_back) {
  auto c = connect();
  const tyer::mutex lock{c, name()};
  run([&]() -> asio::awaitable<void> {
    tyer::hold h = co_await tyer::async_acquire(lock);
    EXPECT_TRUE(co_await tyer::async_confirm(h));
    EXPECT_TRUE(co_await tyer::async_confirm(h, asio::cancel_after(patience)));
    h.release();
    const auto [why, stands] = co_await tyer::async_confirm(h, asio::as_tuple);
    EXPECT_EQ(why.code, errc::not_held);
    EXPECT_FALSE(stands);
  }());
}

// ---- release

TEST_F(asio_calls, a_release_takes_cancel_after) {
  auto c = connect();
  const tyer::mutex lock{c, name()};
  run([&]() -> asio::awaitable<void> {
    tyer::hold h = co_await tyer::async_acquire(lock);
    EXPECT_EQ(co_await tyer::async_release(h, asio::cancel_after(patience)), tyer::release_outcome::released);
    const auto [why, outcome] = co_await tyer::async_release(h, asio::as_tuple(asio::cancel_after(patience)));
    EXPECT_EQ(why.code, errc::not_held);
    EXPECT_EQ(outcome, tyer::release_outcome::already_gone);
  }());
}

TEST_F(asio_calls, a_release_without_an_answer_is_waited_for_no_longer_than_cancel_after_says) {
  server theirs;
  if (!theirs.there()) GTEST_SKIP() << no_server;
  auto c = connect();
  const tyer::mutex lock{c, name(), {.ttl = 60s}};
  tyer::hold h = lock.acquire();
  theirs.pause();
  run([&]() -> asio::awaitable<void> {
    const auto [why, outcome] = co_await tyer::async_release(h, asio::cancel_after(50ms, asio::as_tuple));
    EXPECT_EQ(why.code, errc::cancelled);
    EXPECT_EQ(outcome, tyer::release_outcome::unknown);
  }());
  theirs.resume();
  EXPECT_TRUE(took(lock.try_acquire_for(patience)));  // it went on
}

// ---- several at once

TEST_F(asio_calls, a_multi_mutex_is_acquired_tried_and_given_back) {
  auto a = connect(), b = connect();
  const tyer::multi_mutex mine{a, {name() + "/1", name() + "/2"}}, theirs{b, {name() + "/2", name() + "/1"}};
  run([&]() -> asio::awaitable<void> {
    tyer::multi_hold h = co_await tyer::async_acquire(mine);
    EXPECT_TRUE(h.valid());
    EXPECT_EQ(h.parts().size(), 2U);
    EXPECT_FALSE(took(co_await tyer::async_try_acquire(theirs)));
    EXPECT_FALSE(took(co_await tyer::async_try_acquire_for(theirs, 100ms)));
    EXPECT_EQ(co_await tyer::async_release(h), tyer::release_outcome::released);
    EXPECT_TRUE((co_await tyer::async_try_acquire_for(theirs, patience)).valid());
  }());
}

TEST_F(asio_calls, a_cancelled_multi_mutex_has_given_back_what_it_had) {
  auto a = connect(), b = connect();
  const tyer::multi_mutex both{a, {name() + "/1", name() + "/2"}};
  const tyer::mutex first{b, name() + "/1", {.ttl = 60s}}, second{b, name() + "/2", {.ttl = 60s}};
  const tyer::hold h = second.acquire();
  run([&]() -> asio::awaitable<void> {
    const auto [why, none] = co_await tyer::async_acquire(both, asio::cancel_after(100ms, asio::as_tuple));
    EXPECT_EQ(why.code, errc::cancelled);
    EXPECT_FALSE(none);
    EXPECT_TRUE((co_await tyer::async_try_acquire_for(first, patience)).valid());
  }());
}

TEST_F(asio_calls, multi_mutexes_in_any_order_and_number_take_turns) {
  auto a = connect(), b = connect();
  const tyer::multi_mutex one{a, {name() + "/1", name() + "/2", name() + "/3"}},
      other{b, {name() + "/3", name() + "/1"}};
  asio::io_context io;
  int inside = 0, turns = 0;
  const auto work = [&](const tyer::multi_mutex& m) -> asio::awaitable<void> {
    for (int i = 0; i < 3; ++i) {
      tyer::multi_hold h = co_await tyer::async_acquire(m);
      EXPECT_EQ(inside++, 0);
      co_await asio::post(asio::deferred);
      --inside;
      ++turns;
      co_await tyer::async_release(h);
    }
  };
  for (int i = 0; i < 10; ++i) {
    asio::co_spawn(io, work(one), asio::detached);
    asio::co_spawn(io, work(other), asio::detached);
  }
  io.run_for(patience);
  EXPECT_EQ(turns, 60);
}

TEST_F(asio_calls, all_of_several_are_confirmed_at_once) {
  auto a = connect();
  const tyer::multi_mutex m{a, {name() + "1", name() + "2"}, {.ttl = 60s}};
  run([&]() -> asio::awaitable<void> {
    tyer::multi_hold h = co_await tyer::async_acquire(m);
    EXPECT_TRUE(co_await tyer::async_confirm(h));
    raw().evict(raw().holding(name() + "2").front());
    EXPECT_FALSE(co_await tyer::async_confirm(h));
    h.release();
    const auto [why, stand] = co_await tyer::async_confirm(h, asio::as_tuple);
    EXPECT_EQ(why.code, errc::not_held);
    EXPECT_FALSE(stand);
  }());
}

// ---- limits in time

TEST_F(asio_calls, a_deferred_call_has_what_is_left_until_its_limit_when_it_begins) {
  auto a = connect(), b = connect();
  const tyer::mutex mine{a, name()}, theirs{b, name()};
  const tyer::multi_mutex all{a, {name(), name() + "2"}};
  tyer::hold other = theirs.acquire();
  run([&]() -> asio::awaitable<void> {
    const auto limit = std::chrono::steady_clock::now() + 300ms;
    auto one = tyer::async_try_acquire_until(mine, limit);
    auto several = tyer::async_try_acquire_until(all, limit);
    const tyer::hold none = co_await std::move(one);
    EXPECT_FALSE(none);
    EXPECT_GE(std::chrono::steady_clock::now(), limit);
    const tyer::multi_hold none_of_them = co_await std::move(several);  // one attempt now
    EXPECT_FALSE(none_of_them);
    co_await tyer::async_release(other);
    const tyer::hold h = co_await tyer::async_try_acquire_until(mine, std::chrono::steady_clock::now() + patience);
    EXPECT_TRUE(h.valid());
  }());
}

// ---- upgrades

class asio_upgrade : public asio_calls {
 protected:
  void SetUp() override {
    if (!can().shared) GTEST_SKIP() << no_such_lock;
  }
};

TEST_F(asio_upgrade, a_reader_becomes_the_writer_when_the_others_are_gone) {
  auto a = connect(), b = connect();
  const tyer::shared_mutex mine{a, name()}, theirs{b, name()};
  tyer::hold h = mine.shared().acquire(), other = theirs.shared().acquire();
  run([&]() -> asio::awaitable<void> {
    EXPECT_FALSE(co_await tyer::async_try_upgrade(mine, h));
    EXPECT_FALSE(co_await tyer::async_try_upgrade_for(mine, h, 100ms));
    EXPECT_FALSE(co_await tyer::async_try_upgrade_until(mine, h, std::chrono::steady_clock::now() + 100ms));
    const auto [why, changed] = co_await tyer::async_upgrade(mine, h, asio::as_tuple(asio::cancel_after(100ms)));
    EXPECT_EQ(why.code, errc::cancelled);
    EXPECT_FALSE(changed);
    EXPECT_TRUE(h.valid() && h.mode() == tyer::lock_mode::shared);
    co_await tyer::async_release(other);
    EXPECT_TRUE(co_await tyer::async_upgrade(mine, h));
    EXPECT_TRUE(h.valid() && h.mode() != tyer::lock_mode::shared);
  }());
}

// ---- wait_ready

TEST_F(asio_calls, ready_is_told) {
  auto c = connect();
  run([&]() -> asio::awaitable<void> {
    co_await tyer::async_wait_ready(c, patience);
    boost::system::error_code code = make_error_code(boost::system::errc::io_error);
    co_await tyer::async_wait_ready(c, patience, asio::redirect_error(asio::use_awaitable, code));
    EXPECT_FALSE(code);
  }());
  c.close();
  EXPECT_EQ(code_of([&] { soon(tyer::async_wait_ready(c, patience, asio::use_future)); }), errc::closed);
}

TEST_F(asio_calls, an_engine_that_does_not_answer_is_told_at_the_limit_or_at_the_cancellation_or_at_the_close) {
  server theirs;
  if (!theirs.there()) GTEST_SKIP() << no_server;
  theirs.pause();
  tyer::client c{engine_uri()};
  run([&]() -> asio::awaitable<void> {
    const stopwatch watch;
    const auto [why] = co_await tyer::async_wait_ready(c, 100ms, asio::as_tuple);
    EXPECT_EQ(why.code, errc::unavailable);
    EXPECT_GE(watch.elapsed(), 99ms);
    EXPECT_LT(watch.elapsed(), 100ms + slack);
    const auto [stopped] = co_await tyer::async_wait_ready(c, 1h, asio::as_tuple(asio::cancel_after(50ms)));
    EXPECT_EQ(stopped.code, errc::cancelled);
  }());
  auto closed = tyer::async_wait_ready(c, 1h, asio::use_future);
  auto ready = std::make_unique<tyer::client>(engine_uri());
  auto later = tyer::async_wait_ready(*ready, 1h, asio::use_future);
  c.close();
  EXPECT_EQ(code_of([&] { soon(closed); }), errc::closed);
  theirs.resume();
  soon(later);
}

}  // namespace
}  // namespace contract
