// tyer/asio.hpp: every call with any completion token.
#include "contract/api/fixture.hpp"

#include <tyer/asio.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <set>
#include <vector>

namespace contract {
namespace {

namespace asio = boost::asio;

template <class Kind>
class asio_adapter : public contract_of<Kind> {
 protected:
  // Runs a coroutine to its end, and throws what it throws.
  template <class Coroutine>
  static void run(Coroutine coroutine) {
    asio::io_context io;
    std::exception_ptr thrown;
    asio::co_spawn(io, std::move(coroutine), [&](std::exception_ptr e) { thrown = e; });
    io.run_for(patience);
    if (!io.stopped()) throw std::runtime_error("it did not end in time");
    if (thrown) std::rethrow_exception(thrown);
  }
};
// One kind is enough for what is the adapter's own; that it takes every kind is asked in asio_kinds_test.cpp.
TYPED_TEST_SUITE(asio_adapter, ::testing::Types<mutex_kind>);

// ---- completion tokens

TYPED_TEST(asio_adapter, a_callback_gets_the_failure_and_the_hold) {
  auto c = this->connect();
  auto lock = this->make(c);
  std::promise<tyer::hold> got;
  tyer::async_acquire(lock, [&](tyer::failure f, tyer::hold h) {
    EXPECT_FALSE(f);
    got.set_value(std::move(h));
  });
  auto h = soon(got.get_future());
  EXPECT_TRUE(h.valid());

  std::promise<tyer::release_outcome> told;
  tyer::async_release(std::move(h), [&](tyer::failure f, tyer::release_outcome o) {
    EXPECT_FALSE(f);
    told.set_value(o);
  });
  EXPECT_FALSE(h);  // taken
  EXPECT_EQ(soon(told.get_future()), tyer::release_outcome::released);
}

TYPED_TEST(asio_adapter, a_future_holds_the_hold_or_the_error) {
  auto c = this->connect();
  auto lock = this->make(c);
  auto h = soon(tyer::async_acquire(lock, asio::use_future));
  EXPECT_TRUE(h.valid());
  EXPECT_FALSE(took(soon(tyer::async_try_acquire(lock, asio::use_future))));
  EXPECT_FALSE(took(soon(tyer::async_try_acquire_for(lock, 500ms, asio::use_future))));
  EXPECT_EQ(soon(tyer::async_release(h, asio::use_future)), tyer::release_outcome::released);
  EXPECT_EQ(code_of([&] { soon(tyer::async_release(h, asio::use_future)); }), errc::not_held);
}

TYPED_TEST(asio_adapter, a_coroutine_waits_and_goes_on) {
  auto c = this->connect();
  auto lock = this->make(c);
  this->run([&]() -> asio::awaitable<void> {
    tyer::hold h = co_await tyer::async_acquire(lock);
    EXPECT_TRUE(h.valid());
    EXPECT_FALSE(took(co_await tyer::async_try_acquire(lock)));
    EXPECT_FALSE(took(co_await tyer::async_try_acquire_for(lock, 500ms, asio::use_awaitable)));
    EXPECT_EQ(co_await tyer::async_release(h), tyer::release_outcome::released);
    EXPECT_FALSE(h);
    tyer::hold again = co_await tyer::async_try_acquire_for(lock, patience);
    EXPECT_TRUE(again.valid());
  }());
}

TYPED_TEST(asio_adapter, a_failure_is_thrown_into_the_coroutine_with_its_words) {
  auto c = this->connect();
  auto lock = this->make(c);
  c.close();
  this->run([&]() -> asio::awaitable<void> {
    std::error_code code;
    try {
      tyer::hold h = co_await tyer::async_acquire(lock);
    } catch (const tyer::error& e) {
      code = e.code();
    }
    EXPECT_EQ(code, errc::closed);
    const auto [why, none] = co_await tyer::async_acquire(lock, asio::as_tuple);
    EXPECT_EQ(why.code, errc::closed);
    EXPECT_FALSE(none);
  }());
}

TYPED_TEST(asio_adapter, deferred_does_nothing_until_it_is_started) {
  auto c = this->connect();
  auto lock = this->make(c);
  auto operation = tyer::async_acquire(lock, asio::deferred);
  { EXPECT_TRUE(took(lock.try_acquire())); }
  auto h = soon(std::move(operation)(asio::use_future));
  EXPECT_TRUE(h.valid());
  auto tuple = soon(tyer::async_try_acquire(lock, asio::as_tuple(asio::use_future)));
  EXPECT_FALSE(std::get<0>(tuple));
  EXPECT_FALSE(std::get<1>(tuple));
}

TYPED_TEST(asio_adapter, the_call_site_is_where_the_call_is_written) {
  auto c = this->connect();
  auto lock = this->make(c);
  const auto line = std::to_string(__LINE__ + 1);
  auto h = soon(tyer::async_acquire(lock, asio::use_future));
  const auto held = this->raw().holding(this->name());
  ASSERT_EQ(held.size(), 1U);
  EXPECT_NE(held.front().owner.find("asio_test.cpp:" + line), std::string::npos) << held.front().owner;
}

// ---- cancellation

TYPED_TEST(asio_adapter, cancel_after_ends_a_wait) {
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a, {.ttl = 60s, .waiter_ttl = 30s}), lock_b = this->make(b, {.ttl = 60s, .waiter_ttl = 30s});
  auto h = lock_a.acquire();
  this->run([&]() -> asio::awaitable<void> {
    const stopwatch watch;
    const auto [why, none] = co_await tyer::async_acquire(lock_b, asio::cancel_after(100ms, asio::as_tuple));
    EXPECT_EQ(why.code, errc::cancelled);
    EXPECT_FALSE(none);
    EXPECT_GE(watch.elapsed(), 99ms);
    EXPECT_LT(watch.elapsed(), 100ms + slack);
    std::error_code code;
    try {
      std::ignore = co_await tyer::async_acquire(lock_b, asio::cancel_after(10ms));
    } catch (const tyer::error& e) {
      code = e.code();
    }
    EXPECT_EQ(code, errc::cancelled);
  }());
  EXPECT_TRUE(this->queue_has(0));
  h.release();
  EXPECT_TRUE(took(lock_a.try_acquire()));  // nothing was left behind
}

TYPED_TEST(asio_adapter, cancel_after_leaves_a_granted_hold_alone) {
  auto c = this->connect();
  auto lock = this->make(c);
  this->run([&]() -> asio::awaitable<void> {
    tyer::hold h = co_await tyer::async_acquire(lock, asio::cancel_after(10s));
    EXPECT_TRUE(h.valid());
  }());
}

TYPED_TEST(asio_adapter, a_signal_cancels_at_any_moment) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a, {.ttl = 60s, .waiter_ttl = 30s}), lock_b = this->make(b, {.ttl = 60s, .waiter_ttl = 30s});
  auto h = lock_a.acquire();
  for (const bool queued : {false, true}) {
    for (const auto type :
         {asio::cancellation_type::terminal, asio::cancellation_type::partial, asio::cancellation_type::total}) {
      asio::io_context io;
      asio::cancellation_signal signal;
      std::error_code code;
      tyer::async_acquire(lock_b, asio::bind_cancellation_slot(
                                      signal.slot(), asio::bind_executor(io, [&](tyer::failure f, tyer::hold none) {
                                        code = f.code;
                                        EXPECT_FALSE(none);
                                      })));
      if (queued) {
        ASSERT_TRUE(this->queue_has(1));
      }
      signal.emit(type);
      io.run_for(patience);
      EXPECT_EQ(code, errc::cancelled);
    }
  }
  EXPECT_TRUE(this->queue_has(0));
}

TYPED_TEST(asio_adapter, a_signal_after_the_end_finds_nobody) {
  auto c = this->connect();
  auto lock = this->make(c);
  asio::io_context io;
  asio::cancellation_signal signal;
  tyer::hold h;
  tyer::async_acquire(
      lock, asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(io, [&](tyer::failure f, tyer::hold got) {
                                           EXPECT_FALSE(f);
                                           EXPECT_FALSE(signal.slot().has_handler());
                                           h = std::move(got);
                                         })));
  io.run_for(patience);
  signal.emit(asio::cancellation_type::all);
  EXPECT_TRUE(h.valid());
  EXPECT_FALSE(took(lock.try_acquire()));
  EXPECT_TRUE(h.valid());
}

TYPED_TEST(asio_adapter, a_signal_between_the_grant_and_the_handler_loses_no_hold) {
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 60s});
  for (int i = 0; i < 20; ++i) {
    asio::io_context io;
    asio::cancellation_signal signal;
    tyer::failure why;
    tyer::hold h;
    tyer::async_acquire(
        lock, asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(io, [&](tyer::failure f, tyer::hold got) {
                                             why = std::move(f);
                                             h = std::move(got);
                                           })));
    if (i % 2 == 0) {
      ASSERT_TRUE(eventually([&] { return this->raw().holding(this->name()).size() == 1; }));
    }
    signal.emit(asio::cancellation_type::terminal);
    io.run_for(patience);
    EXPECT_TRUE(h ? !why : why.code == errc::cancelled);
    h = {};
    EXPECT_TRUE(took(lock.try_acquire_for(patience)));
  }
}

TYPED_TEST(asio_adapter, operators_of_coroutines_cancel_the_slower_side) {
  using namespace asio::experimental::awaitable_operators;
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a, {.ttl = 60s}), lock_b = this->make(b, {.ttl = 60s});
  auto free = this->make_as(b, this->name() + "/free");
  auto h = lock_a.acquire();
  this->run([&]() -> asio::awaitable<void> {
    auto first =
        co_await (tyer::async_acquire(lock_b, asio::use_awaitable) || tyer::async_acquire(free, asio::use_awaitable));
    EXPECT_EQ(first.index(), 1U);
  }());
  EXPECT_TRUE(this->queue_has(0));
}

// ---- where handlers run

TYPED_TEST(asio_adapter, a_handler_never_runs_inside_the_call) {
  auto c = this->connect();
  auto lock = this->make(c);
  for (const bool closed : {false, true}) {
    if (closed) c.close();
    asio::io_context io;
    bool called = false;
    tyer::async_try_acquire(lock, asio::bind_executor(io, [&](tyer::failure, tyer::hold) { called = true; }));
    EXPECT_FALSE(called);
    io.run_for(patience);
    EXPECT_TRUE(called);

    called = false;
    tyer::async_release(tyer::hold{}, asio::bind_executor(io, [&](tyer::failure f, tyer::release_outcome) {
                          EXPECT_EQ(f.code, errc::not_held);
                          called = true;
                        }));
    EXPECT_FALSE(called);
    io.restart();
    io.run_for(patience);
    EXPECT_TRUE(called);
  }
}

TYPED_TEST(asio_adapter, without_any_executor_it_is_a_thread_of_the_client) {
  auto c = this->connect();
  auto lock = this->make(c);
  std::promise<std::thread::id> where;
  tyer::async_acquire(lock, [&](tyer::failure, tyer::hold h) {
    EXPECT_TRUE(h);
    EXPECT_EQ(code_of([&] { static_cast<void>(lock.acquire()); }), errc::would_deadlock);
    where.set_value(std::this_thread::get_id());
  });
  EXPECT_NE(soon(where.get_future()), std::this_thread::get_id());
}

TYPED_TEST(asio_adapter, completions_of_the_client_are_used_and_an_executor_of_the_handler_wins) {
  asio::io_context theirs, own;
  auto c = this->connect({.completions = tyer::run_on(theirs.get_executor())});
  auto lock = this->make(c);
  int called = 0;
  auto keep = asio::make_work_guard(theirs);
  tyer::async_acquire(lock, [&](tyer::failure f, tyer::hold h) {
    EXPECT_FALSE(f);
    EXPECT_TRUE(theirs.get_executor().running_in_this_thread());
    ++called;
    tyer::async_release(std::move(h), [&](tyer::failure, tyer::release_outcome o) {
      EXPECT_EQ(o, tyer::release_outcome::released);
      EXPECT_TRUE(theirs.get_executor().running_in_this_thread());
      ++called;
      keep.reset();
    });
  });
  theirs.run_for(patience);
  EXPECT_EQ(called, 2);

  tyer::async_acquire(lock, asio::bind_executor(own, [&](tyer::failure, tyer::hold) {
                        EXPECT_TRUE(own.get_executor().running_in_this_thread());
                        ++called;
                      }));
  own.run_for(patience);
  EXPECT_EQ(called, 3);
}

TYPED_TEST(asio_adapter, a_strand_is_kept) {
  auto c = this->connect();
  asio::thread_pool pool{3};
  auto strand = asio::make_strand(pool);
  std::atomic<int> inside{0};
  int count = 0;  // not atomic: the strand is enough
  std::promise<void> all;
  std::vector<std::unique_ptr<typename TypeParam::type>> locks;
  constexpr int calls = 200;
  for (int i = 0; i < calls; ++i) {
    locks.push_back(std::make_unique<typename TypeParam::type>(c, this->name() + "/" + std::to_string(i)));
    tyer::async_acquire(*locks.back(), asio::bind_executor(strand, [&](tyer::failure f, tyer::hold) {
      EXPECT_FALSE(f);
      EXPECT_EQ(inside.fetch_add(1), 0);
      EXPECT_TRUE(strand.running_in_this_thread());
      if (++count == calls) all.set_value();
      inside.fetch_sub(1);
    }));
  }
  soon(all.get_future());
  pool.join();
}

TYPED_TEST(asio_adapter, an_outstanding_call_keeps_the_loop_running) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a), lock_b = this->make(b);
  auto h = lock_a.acquire();
  asio::io_context io;
  bool called = false;
  tyer::async_acquire(lock_b, asio::bind_executor(io, [&](tyer::failure, tyer::hold got) {
                        EXPECT_TRUE(got);
                        called = true;
                      }));
  io.poll();
  EXPECT_FALSE(io.stopped());  // nothing to do now, but something to wait for
  auto running = in_background([&] { io.run(); });
  ASSERT_TRUE(this->queue_has(1));
  h.release();
  soon(running);
  EXPECT_TRUE(called);
}

TYPED_TEST(asio_adapter, a_loop_that_is_destroyed_with_calls_under_way_gives_their_holds_back) {
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a, {.ttl = 60s}), lock_b = this->make(b, {.ttl = 60s});
  {
    asio::io_context io;
    tyer::async_acquire(lock_b, asio::bind_executor(io, [](tyer::failure, tyer::hold) { FAIL() << "nobody runs it"; }));
    ASSERT_TRUE(eventually([&] { return this->raw().holding(this->name()).size() == 1; }));
    // The answer may be on its way to the loop: wait until it is there.
    ASSERT_TRUE(lock_b.name() == this->name() && !took(lock_b.try_acquire()));
  }
  EXPECT_TRUE(took(lock_a.try_acquire_for(patience)));
}

TYPED_TEST(asio_adapter, many_coroutines_take_turns) {
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a), lock_b = this->make(b);
  asio::io_context io;
  int inside = 0, turns = 0;
  tyer::fence_gate gate;
  const auto work = [&](auto& lock) -> asio::awaitable<void> {
    for (int i = 0; i < 4; ++i) {
      tyer::hold h = co_await tyer::async_acquire(lock);
      EXPECT_TRUE(gate.enter(h.fence()));
      EXPECT_EQ(inside++, 0);
      co_await asio::post(asio::use_awaitable);
      --inside;
      ++turns;
      if (i % 2 == 0) co_await tyer::async_release(h);
    }
  };
  for (int i = 0; i < 50; ++i) {
    asio::co_spawn(io, work(lock_a), asio::detached);
    asio::co_spawn(io, work(lock_b), asio::detached);
  }
  io.run_for(patience);
  EXPECT_EQ(turns, 400);
}

TYPED_TEST(asio_adapter, a_handler_may_own_everything_it_uses) {
  for (int i = 0; i < 10; ++i) {
    auto client = std::make_shared<tyer::client>(this->connect());
    auto lock = std::make_shared<typename TypeParam::type>(*client, this->name());
    std::promise<void> done;
    auto& l = *lock;
    tyer::async_acquire(
        l, [&done, client = std::move(client), lock = std::move(lock)](tyer::failure f, tyer::hold h) mutable {
          EXPECT_FALSE(f);
          h = {};
          lock.reset();
          client.reset();
          done.set_value();
        });
    soon(done.get_future());
  }
}

TYPED_TEST(asio_adapter, after_close_a_handler_without_an_executor_is_called_too) {
  auto c = this->connect();
  auto lock = this->make(c);
  auto h = lock.acquire();
  std::promise<std::error_code> waiting, late;
  tyer::async_acquire(lock, [&](tyer::failure f, tyer::hold) { waiting.set_value(f.code); });
  c.close();
  EXPECT_EQ(soon(waiting.get_future()), errc::closed);
  tyer::async_acquire(lock, [&](tyer::failure f, tyer::hold) { late.set_value(f.code); });
  EXPECT_EQ(soon(late.get_future()), errc::closed);
  std::promise<tyer::release_outcome> told;
  tyer::async_release(h, [&](tyer::failure, tyer::release_outcome o) { told.set_value(o); });
  EXPECT_EQ(soon(told.get_future()), tyer::release_outcome::already_gone);
}

}  // namespace
}  // namespace contract
