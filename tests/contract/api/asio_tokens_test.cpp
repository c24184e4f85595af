// The table of tokens in tyer/asio.hpp: each is run on a free lock, on one that is given back, and on one that is not.
#include "contract/api/fixture.hpp"

#include <tyer/asio.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/bind_immediate_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancel_at.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prepend.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <memory>
#include <new>

namespace contract {
namespace {

namespace asio = boost::asio;
using milliseconds = std::chrono::milliseconds;
using sink = std::function<void(std::error_code, tyer::hold)>;

// Cancels after the limit what has its slot, for tokens without a time of their own.
struct ending {
  ending(asio::io_context& io, milliseconds limit) : timer(io, limit) {
    timer.async_wait([this](boost::system::error_code stopped) {
      if (!stopped) signal.emit(asio::cancellation_type::terminal);
    });
  }
  asio::cancellation_signal signal;
  asio::steady_timer timer;
};

// A handler that can be told from a copy of itself that something was moved from.
struct handler {
  std::shared_ptr<sink> to;
  void operator()(tyer::failure f, tyer::hold h) const { (*to)(f.code, std::move(h)); }
};
handler to(const sink& s) { return {std::make_shared<sink>(s)}; }

template <class Body>
void spawn(asio::io_context& io, Body body) {
  asio::co_spawn(io, std::move(body), [](std::exception_ptr e) {
    if (e) std::rethrow_exception(e);
  });
}
// A coroutine that gives a hold or throws.
template <class Make>
void spawn_throwing(asio::io_context& io, const sink& s, Make make) {
  spawn(io, [s, make]() -> asio::awaitable<void> {
    std::error_code code;
    tyer::hold h;
    try {
      h = co_await make();
    } catch (const tyer::error& e) {
      code = e.code();
    }
    s(code, std::move(h));
  });
}

struct token_case {
  const char* name;
  void (*start)(asio::io_context&, const tyer::acquirable&, milliseconds limit, sink);
};
using asio::io_context;
using tyer::acquirable;

// Executors and slots

const token_case callable{
    "a callable with a slot", [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
      const auto end = std::make_shared<ending>(io, limit);
      tyer::async_acquire(m, asio::bind_cancellation_slot(
                                 end->signal.slot(), asio::bind_executor(io, [s, end](tyer::failure f, tyer::hold h) {
                                   end->timer.cancel();
                                   s(f.code, std::move(h));
                                 })));
    }};
const token_case any_handler{
    "any_completion_handler", [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
      asio::any_completion_handler<void(tyer::failure, tyer::hold)> any{asio::bind_executor(io, to(s))};
      tyer::async_acquire(m, asio::cancel_after(limit, std::move(any)));
    }};
const token_case any_handler_without_executor{
    "any_completion_handler without an executor", [](io_context&, const acquirable& m, milliseconds limit, sink s) {
      asio::any_completion_handler<void(tyer::failure, tyer::hold)> any{to(s)};
      tyer::async_acquire(m, asio::cancel_after(limit, std::move(any)));
    }};
const token_case any_handler_with_slot{
    "any_completion_handler with a slot", [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
      const auto end = std::make_shared<ending>(io, limit);
      asio::any_completion_handler<void(tyer::failure, tyer::hold)> any{asio::bind_cancellation_slot(
          end->signal.slot(), asio::bind_executor(io, [s, end](tyer::failure f, tyer::hold h) {
            end->timer.cancel();
            s(f.code, std::move(h));
          }))};
      tyer::async_acquire(m, std::move(any));
    }};
const token_case executor_inside{"cancel_after(bind_executor(callable))",
                                 [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
                                   tyer::async_acquire(m, asio::cancel_after(limit, asio::bind_executor(io, to(s))));
                                 }};
const token_case executor_outside{"bind_executor(cancel_after(callable))",
                                  [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
                                    tyer::async_acquire(m, asio::bind_executor(io, asio::cancel_after(limit, to(s))));
                                  }};
const token_case no_executor{"cancel_after(callable)",
                             [](io_context&, const acquirable& m, milliseconds limit, sink s) {
                               tyer::async_acquire(m, asio::cancel_after(limit, to(s)));
                             }};
const token_case twice{
    "cancel_after(cancel_after(callable))", [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
      tyer::async_acquire(m, asio::cancel_after(1h, asio::bind_executor(io, asio::cancel_after(limit, to(s)))));
    }};
const token_case immediate{
    "bind_immediate_executor", [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
      tyer::async_acquire(m, asio::cancel_after(limit, asio::bind_immediate_executor(asio::system_executor{},
                                                                                     asio::bind_executor(io, to(s)))));
    }};
const token_case more_arguments{
    "append, prepend and consign", [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
      auto seven = [s](int before, tyer::failure f, tyer::hold h, int after) {
        EXPECT_EQ(before + after, 7);
        s(f.code, std::move(h));
      };
      tyer::async_acquire(
          m, asio::cancel_after(limit, asio::consign(asio::prepend(asio::append(asio::bind_executor(io, seven), 4), 3),
                                                     std::make_unique<int>(1))));
    }};

// Coroutines

const token_case awaitable{"use_awaitable", [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
                             const auto end = std::make_shared<ending>(io, limit);
                             asio::co_spawn(
                                 io,
                                 [&m, s, end]() -> asio::awaitable<void> {
                                   std::error_code code;
                                   tyer::hold h;
                                   try {
                                     h = co_await tyer::async_acquire(m, asio::use_awaitable);
                                   } catch (const tyer::error& e) {
                                     code = e.code();
                                   }
                                   end->timer.cancel();
                                   s(code, std::move(h));
                                 },
                                 asio::bind_cancellation_slot(end->signal.slot(), asio::detached));
                           }};
const token_case after{"cancel_after", [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
                         spawn_throwing(io, s,
                                        [&m, limit] { return tyer::async_acquire(m, asio::cancel_after(limit)); });
                       }};
const token_case at{"cancel_at", [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
                      const auto then = steady_clock::now() + limit;
                      spawn_throwing(io, s, [&m, then] { return tyer::async_acquire(m, asio::cancel_at(then)); });
                    }};
const token_case at_callable{
    "cancel_at(callable)", [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
      tyer::async_acquire(m, asio::cancel_at(steady_clock::now() + limit, asio::bind_executor(io, to(s))));
    }};
const token_case coroutine_bound{"bind_executor(cancel_after)",
                                 [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
                                   spawn_throwing(io, s, [&m, &io, limit] {
                                     return tyer::async_acquire(m, asio::bind_executor(io, asio::cancel_after(limit)));
                                   });
                                 }};
const token_case tuple_of_after{
    "as_tuple(cancel_after)", [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
      spawn(io, [&m, limit, s]() -> asio::awaitable<void> {
        auto [why, h] = co_await tyer::async_acquire(m, asio::as_tuple(asio::cancel_after(limit)));
        s(why.code, std::move(h));
      });
    }};
const token_case after_of_tuple{
    "cancel_after(as_tuple)", [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
      spawn(io, [&m, limit, s]() -> asio::awaitable<void> {
        auto [why, h] = co_await tyer::async_acquire(m, asio::cancel_after(limit, asio::as_tuple));
        s(why.code, std::move(h));
      });
    }};
const token_case redirect_of_after{
    "redirect_error(cancel_after)", [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
      spawn(io, [&m, limit, s]() -> asio::awaitable<void> {
        boost::system::error_code code = make_error_code(boost::system::errc::io_error);
        tyer::hold h = co_await tyer::async_acquire(m, asio::redirect_error(asio::cancel_after(limit), code));
        s(code, std::move(h));
      });
    }};
const token_case after_of_redirect{
    "cancel_after(redirect_error)", [](io_context& io, const acquirable& m, milliseconds limit, sink s) {
      spawn(io, [&m, limit, s]() -> asio::awaitable<void> {
        boost::system::error_code code = make_error_code(boost::system::errc::io_error);
        tyer::hold h =
            co_await tyer::async_acquire(m, asio::cancel_after(limit, asio::redirect_error(asio::use_awaitable, code)));
        s(code, std::move(h));
      });
    }};

const token_case every_token[] = {callable,
                                  any_handler,
                                  any_handler_without_executor,
                                  any_handler_with_slot,
                                  executor_inside,
                                  executor_outside,
                                  no_executor,
                                  twice,
                                  immediate,
                                  more_arguments,
                                  awaitable,
                                  after,
                                  at,
                                  at_callable,
                                  coroutine_bound,
                                  tuple_of_after,
                                  after_of_tuple,
                                  redirect_of_after,
                                  after_of_redirect};

class asio_tokens : public fixture {
 protected:
  struct answer {
    std::error_code code;
    tyer::hold hold;
  };
  // Runs the loop until the answer is there: on a thread of its own, since some handlers run elsewhere.
  static answer run(const token_case& t, const tyer::acquirable& m, milliseconds limit,
                    const std::function<void()>& meanwhile = {}) {
    io_context io;
    auto busy = asio::make_work_guard(io);
    std::promise<answer> promise;
    t.start(io, m, limit, [&](std::error_code c, tyer::hold h) { promise.set_value({c, std::move(h)}); });
    std::jthread loop{[&] { io.run(); }};
    if (meanwhile) meanwhile();
    auto a = soon(promise.get_future());
    busy.reset();
    return a;
  }
};

TEST_F(asio_tokens, each_gives_a_hold) {
  auto c = connect();
  const tyer::mutex lock{c, name()};
  for (const auto& t : every_token) {
    SCOPED_TRACE(t.name);
    const auto a = run(t, lock, patience);
    EXPECT_FALSE(a.code) << a.code.message();
    EXPECT_TRUE(a.hold.valid());
  }
}

TEST_F(asio_tokens, each_waits_for_its_turn) {
  if (!can().queue) GTEST_SKIP() << no_queue;
  auto a = connect(), b = connect();
  const tyer::mutex theirs{a, name()}, mine{b, name()};
  for (const auto& t : every_token) {
    SCOPED_TRACE(t.name);
    tyer::hold h = theirs.acquire();
    const auto got = run(t, mine, patience, [&] {
      EXPECT_TRUE(queue_has(1));
      h.release();
    });
    EXPECT_FALSE(got.code) << got.code.message();
    EXPECT_TRUE(got.hold.valid());
  }
}

TEST_F(asio_tokens, each_is_cancelled_and_leaves_nothing_behind) {
  auto a = connect(), b = connect();
  const tyer::mutex theirs{a, name(), {.ttl = 60s, .waiter_ttl = 30s}},
      mine{b, name(), {.ttl = 60s, .waiter_ttl = 30s}};
  const tyer::hold h = theirs.acquire();
  for (const auto& t : every_token) {
    SCOPED_TRACE(t.name);
    const stopwatch watch;
    const auto got = run(t, mine, 50ms);
    EXPECT_EQ(got.code, errc::cancelled) << got.code.message();
    EXPECT_FALSE(got.hold);
    EXPECT_GE(watch.elapsed(), 49ms);
  }
  EXPECT_TRUE(queue_has(0));
}

TEST_F(asio_tokens, a_future_is_cancelled_too) {
  auto a = connect(), b = connect();
  const tyer::mutex theirs{a, name(), {.ttl = 60s}}, mine{b, name(), {.ttl = 60s}};
  tyer::hold h = theirs.acquire();
  EXPECT_EQ(code_of([&] { auto none = soon(tyer::async_acquire(mine, asio::cancel_after(50ms, asio::use_future))); }),
            errc::cancelled);
  EXPECT_EQ(code_of([&] {
              auto none =
                  soon(tyer::async_acquire(mine, asio::cancel_at(steady_clock::now() + 50ms, asio::use_future)));
            }),
            errc::cancelled);
  auto waiting = tyer::async_acquire(mine, asio::cancel_after(1h, asio::use_future));
  h.release();
  EXPECT_TRUE(soon(waiting).valid());
}

TEST_F(asio_tokens, a_handler_that_was_not_given_away_was_moved_from) {
  auto c = connect();
  const tyer::mutex lock{c, name()};
  std::atomic<int> called{0};
  handler h = to([&](std::error_code code, const tyer::hold&) { called += code ? 100 : 1; });
  const handler same = h;
  tyer::async_acquire(lock, h);
  EXPECT_TRUE(h.to);
  tyer::async_acquire(lock, same);
  tyer::async_try_acquire_for(lock, patience, h);
  EXPECT_TRUE(h.to && same.to);
  auto released = [&](tyer::failure, tyer::release_outcome) { ++called; };
  tyer::async_release(tyer::hold{}, released);
  EXPECT_TRUE(eventually([&] { return called == 4; })) << called;
}

// Counts what is under way, and must find nothing left when the handler is called.
template <class T>
struct counting {
  using value_type = T;
  std::shared_ptr<std::atomic<int>> live, ever;

  T* allocate(std::size_t n) {
    ++*live;
    ++*ever;
    return std::allocator<T>{}.allocate(n);
  }
  void deallocate(T* p, std::size_t n) {
    --*live;
    std::allocator<T>{}.deallocate(p, n);
  }
  counting(std::shared_ptr<std::atomic<int>> l, std::shared_ptr<std::atomic<int>> e) : live(l), ever(e) {}
  template <class U>
  counting(const counting<U>& other) : live(other.live), ever(other.ever) {}
  template <class U>
  bool operator==(const counting<U>& other) const {
    return live == other.live;
  }
};

TEST_F(asio_tokens, the_allocator_of_a_handler_was_not_used) {
  auto c = connect();
  const tyer::mutex lock{c, name()};
  const auto live = std::make_shared<std::atomic<int>>(0), ever = std::make_shared<std::atomic<int>>(0);
  io_context io;
  tyer::hold h;
  int left = -1;
  tyer::async_acquire(lock, asio::bind_allocator(counting<void*>{live, ever},
                                                 asio::bind_executor(io, [&](tyer::failure, tyer::hold got) {
                                                   left = *live;
                                                   h = std::move(got);
                                                 })));
  EXPECT_GE(*live, 1);
  io.run_for(patience);
  EXPECT_TRUE(h.valid());
  EXPECT_GE(*ever, 2);  // for the call, and for its way to the loop
  EXPECT_EQ(left, 0);

  {
    io_context gone;  // never run: what it has of the handler is given back to the allocator all the same
    tyer::async_release(h,
                        asio::bind_allocator(counting<void*>{live, ever},
                                             asio::bind_executor(gone, [](tyer::failure, tyer::release_outcome) {})));
    ASSERT_TRUE(took(lock.try_acquire_for(patience)));
  }
  EXPECT_TRUE(eventually([&] { return *live == 0; }));
}

TEST_F(asio_tokens, no_handler_runs_inside_a_call) {
  auto c = connect();
  const tyer::mutex lock{c, name()};
  for (const bool closed : {false, true}) {
    if (closed) c.close();
    for (int i = 0; i < 50; ++i) {
      thread_local bool inside = false;
      std::promise<void> called;
      const auto check = [&](tyer::failure, const tyer::hold&) {
        EXPECT_FALSE(inside);
        called.set_value();
      };
      // Its executor can only be dispatched to, and would run it wherever that is.
      asio::any_completion_handler<void(tyer::failure, tyer::hold)> any{
          asio::bind_executor(asio::system_executor{}, check)};
      inside = true;
      tyer::async_try_acquire(lock, std::move(any));
      inside = false;
      soon(called.get_future());
    }
  }
}

TEST_F(asio_tokens, what_is_deferred_is_started_more_than_once) {
  auto c = connect();
  const tyer::mutex lock{c, name()};
  const auto operation = tyer::async_acquire(lock, asio::cancel_after(patience, asio::deferred));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(soon(operation(asio::use_future)).valid());
}

// Asio leaves it to the executor that the end of a call and that of its timer come one after the other.
TEST_F(asio_tokens, a_future_was_broken_when_its_timer_ended_on_another_thread_at_once) {
  auto c = connect();
  const tyer::mutex lock{c, name()};
  for (int i = 0; i < 300; ++i) {
    auto h = soon(tyer::async_acquire(lock, asio::cancel_after(patience, asio::use_future)));
    EXPECT_TRUE(h.valid());
    auto none = soon(tyer::async_acquire(lock, asio::cancel_after(0ms, asio::as_tuple(asio::use_future))));
    EXPECT_EQ(std::get<0>(none).code, errc::cancelled);  // though its timer rang before it had begun
    soon(tyer::async_release(h, asio::cancel_after(patience, asio::use_future)));
  }
}

}  // namespace
}  // namespace contract
