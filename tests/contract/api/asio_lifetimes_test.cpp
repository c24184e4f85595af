// tyer/asio.hpp: a loop that ends before the client does, and handlers that take their time.
#include "contract/api/fixture.hpp"

#include <tyer/asio.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>

namespace contract {
namespace {

namespace asio = boost::asio;

class asio_lifetimes : public contract_of<mutex_kind> {
 protected:
  // Begins a call in a loop, which ends while the call is under way. Gives whether what the handler owned was gone then.
  using begin_call = std::function<void(asio::io_context&, const tyer::acquirable&, std::shared_ptr<int> owned)>;
  bool ends_with_its_loop(const tyer::acquirable& lock, const begin_call& begin) {
    auto owned = std::make_shared<int>(7);
    const std::weak_ptr<int> left = owned;
    {
      const auto io = std::make_unique<asio::io_context>();
      begin(*io, lock, std::move(owned));
      io->run_for(50ms);
    }
    return left.expired();
  }
};

auto never_called(std::shared_ptr<int> owned) {
  return [owned](const tyer::failure&, const tyer::hold&) { FAIL() << "its loop is gone"; };
}
asio::awaitable<void> wait_for(const tyer::acquirable& m, std::shared_ptr<int> owned) {
  static_cast<void>(co_await tyer::async_acquire(m, asio::use_awaitable));
  ADD_FAILURE() << "its loop is gone" << *owned;
}
asio::awaitable<void> wait_a_while_for(const tyer::acquirable& m, std::shared_ptr<int> owned) {
  static_cast<void>(co_await tyer::async_acquire(m, asio::cancel_after(150ms)));
  ADD_FAILURE() << "its loop is gone" << *owned;
}

// GCC 12 copies what braces make in such an expression byte by byte, and so did the default of the options come apart.
asio::awaitable<void> take_in_one_line(const tyer::client& c, const std::string& name, bool& taken) {
  const tyer::hold h = co_await tyer::async_acquire(tyer::mutex{c, name});
  taken = h.valid();
}

TEST_F(asio_lifetimes, a_lock_made_in_the_line_that_waits_for_it_took_the_process_along) {
  const tyer::client c = connect();
  asio::io_context io;
  bool taken = false;
  asio::co_spawn(io, take_in_one_line(c, name(), taken), asio::detached);
  io.run();
  EXPECT_TRUE(taken);
}

TEST_F(asio_lifetimes, a_loop_that_was_destroyed_before_the_client_was_posted_to) {
  using io_context = asio::io_context;
  using tyer::acquirable;
  const std::vector<std::pair<const char*, begin_call>> ways{
      {"a callable", [](io_context& io, const acquirable& m,
                        auto owned) { tyer::async_acquire(m, asio::bind_executor(io, never_called(owned))); }},
      {"any_io_executor",
       [](io_context& io, const acquirable& m, auto owned) {
         tyer::async_acquire(m, asio::bind_executor(asio::any_io_executor{io.get_executor()}, never_called(owned)));
       }},
      {"a strand",
       [](io_context& io, const acquirable& m, auto owned) {
         tyer::async_acquire(m, asio::bind_executor(asio::make_strand(io), never_called(owned)));
       }},
      {"any_completion_handler",
       [](io_context& io, const acquirable& m, auto owned) {
         asio::any_completion_handler<void(tyer::failure, tyer::hold)> any{
             asio::bind_executor(io, never_called(owned))};
         tyer::async_acquire(m, std::move(any));
       }},
      {"a coroutine",
       [](io_context& io, const acquirable& m, auto owned) { asio::co_spawn(io, wait_for(m, owned), asio::detached); }},
      {"a coroutine with a timer", [](io_context& io, const acquirable& m,
                                      auto owned) { asio::co_spawn(io, wait_a_while_for(m, owned), asio::detached); }},
      {"a timer inside of the executor",
       [](io_context& io, const acquirable& m, auto owned) {
         tyer::async_acquire(m, asio::bind_executor(io, asio::cancel_after(150ms, never_called(owned))));
       }},
      {"two timers",
       [](io_context& io, const acquirable& m, auto owned) {
         tyer::async_acquire(
             m, asio::cancel_after(1h, asio::cancel_after(150ms, asio::bind_executor(io, never_called(owned)))));
       }},
      {"any_completion_handler with a timer",
       [](io_context& io, const acquirable& m, auto owned) {
         asio::any_completion_handler<void(tyer::failure, tyer::hold)> any{
             asio::bind_executor(io, never_called(owned))};
         tyer::async_acquire(m, asio::cancel_after(150ms, std::move(any)));
       }},
  };
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a, {.ttl = 60s, .waiter_ttl = 30s}), lock_b = this->make(b, {.ttl = 60s, .waiter_ttl = 30s});
  auto h = lock_a.acquire();
  for (const auto& [name, begin] : ways) {
    EXPECT_TRUE(ends_with_its_loop(lock_b, begin)) << name;
  }
  if (this->can().queue) {
    EXPECT_TRUE(this->queue_has(0));  // they were called off
  }
  std::this_thread::sleep_for(200ms);  // timers that were left would ring now
  h.release();
  EXPECT_TRUE(took(lock_b.try_acquire_for(patience)));  // and nobody got it
  b.close();
}

TEST_F(asio_lifetimes, completions_on_a_loop_that_was_destroyed_before_the_client_were_posted_to_it) {
  auto a = this->connect();
  auto lock_a = this->make(a, {.ttl = 60s});
  auto h = lock_a.acquire();
  for (const bool strand : {false, true}) {
    auto io = std::make_unique<asio::io_context>();
    auto b = this->connect(
        {.completions = strand ? tyer::run_on(asio::make_strand(*io)) : tyer::run_on(io->get_executor())});
    auto lock_b = this->make(b, {.ttl = 60s});
    auto owned = std::make_shared<int>(7);
    const std::weak_ptr<int> left = owned;
    tyer::async_acquire(lock_b, never_called(std::move(owned)));
    io->run_for(50ms);
    io.reset();
    b.close();
    EXPECT_TRUE(eventually([&] { return left.expired(); }));
  }
}

TEST_F(asio_lifetimes, an_answer_at_the_moment_its_loop_ends_keeps_no_hold) {
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a, {.ttl = 60s}), lock_b = this->make(b, {.ttl = 60s});
  for (int i = 0; i < 100; ++i) {
    auto h = lock_a.acquire();
    auto io = std::make_unique<asio::io_context>();
    tyer::async_acquire(lock_b, asio::bind_executor(*io, asio::cancel_after(1h, never_called({}))));
    auto released = in_background([&] { h.release(); });
    io.reset();
    soon(released);
  }
  EXPECT_TRUE(took(lock_a.try_acquire_for(patience)));
}

TEST_F(asio_lifetimes, a_call_in_a_context_that_ends_begins_no_more) {
  auto c = this->connect();
  auto lock = this->make(c);
  struct begins_another {
    typename mutex_kind::type* lock;
    asio::io_context* io;
    begins_another(typename mutex_kind::type& l, asio::io_context& i) : lock(&l), io(&i) {}
    begins_another(begins_another&& other) noexcept : lock(std::exchange(other.lock, nullptr)), io(other.io) {}
    ~begins_another() {
      if (lock != nullptr) tyer::async_acquire(*lock, asio::bind_executor(*io, never_called({})));
    }
    void operator()(const tyer::failure&, const tyer::hold&) { lock = nullptr; }
  };
  auto h = lock.acquire();
  {
    asio::io_context io;
    tyer::async_acquire(lock, asio::bind_executor(io, begins_another{lock, io}));
  }
  h.release();
  EXPECT_TRUE(took(lock.try_acquire_for(patience)));
}

// ---- the thread of the timers

TEST_F(asio_lifetimes, a_handler_on_the_system_executor_ran_on_the_thread_of_all_timers) {
  auto a = this->connect(), b = this->connect();
  auto busy = this->make(a, {.ttl = 60s}), busy_too = this->make(b, {.ttl = 60s});
  auto free = this->make_as(b, this->name() + "/free");
  auto h = busy.acquire();
  const auto times_out = [&] {
    auto f = tyer::async_acquire(busy_too, asio::cancel_after(50ms, asio::use_future));
    return f.wait_for(patience) == std::future_status::ready &&
           code_of([&] { static_cast<void>(f.get()); }) == errc::cancelled;
  };
  std::promise<bool> ended;
  tyer::async_acquire(free, asio::cancel_after(1h, asio::bind_executor(asio::system_executor{},
                                                                       [&](const tyer::failure&, tyer::hold got) {
                                                                         got = {};
                                                                         ended.set_value(times_out());
                                                                       })));
  EXPECT_TRUE(soon(ended.get_future()));
  auto of_a_future =
      tyer::async_acquire(free, asio::cancel_after(1h, asio::use_future([&](const tyer::failure&, tyer::hold got) {
                                                     got = {};
                                                     return times_out();
                                                   })));
  EXPECT_TRUE(soon(std::move(of_a_future)));
}

TEST_F(asio_lifetimes, a_call_and_its_timer_ended_at_once_on_a_pool_of_threads) {
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a, {.ttl = 60s}), lock_b = this->make(b, {.ttl = 60s});
  asio::thread_pool pool{4};
  std::atomic<int> called{0};
  constexpr int calls = 200;
  for (int i = 0; i < calls; ++i) {
    tyer::async_acquire(i % 2 == 0 ? lock_a : lock_b,
                        asio::cancel_after(std::chrono::microseconds{i * 20},
                                           asio::bind_executor(pool, [&](tyer::failure, tyer::hold) { ++called; })));
  }
  EXPECT_TRUE(eventually([&] { return called == calls; }));
  pool.join();
  EXPECT_TRUE(took(lock_a.try_acquire_for(patience)));
}

// ---- handlers come once

// Takes what it is given, and throws all the same, as for want of memory for what comes behind.
struct takes_and_throws {
  void take(std::function<void()> f) {
    const std::lock_guard lock{mutex};
    taken.push_back(std::move(f));
    throw std::bad_alloc{};
  }
  void run_all() {
    const std::lock_guard lock{mutex};
    for (const auto& f : taken) f();
  }
  std::mutex mutex;
  std::vector<std::function<void()>> taken;
};
// The same as an executor of Asio.
struct throwing_executor {
  takes_and_throws* to;
  static constexpr asio::execution::blocking_t::never_t query(asio::execution::blocking_t) noexcept { return {}; }
  template <class F>
  void execute(F&& f) const {
    auto shared = std::make_shared<std::decay_t<F>>(std::forward<F>(f));
    auto once = std::make_shared<std::atomic<bool>>(false);
    to->take([shared, once] {
      if (!once->exchange(true)) std::move (*shared)();
    });
  }
  bool operator==(const throwing_executor&) const noexcept = default;
};

TEST_F(asio_lifetimes, a_handler_ran_twice_where_the_completions_took_it_and_threw) {
  takes_and_throws loop;
  auto c = connect({.completions = [&](std::function<void()> f) { loop.take(std::move(f)); }});
  std::atomic<int> calls{0};
  std::promise<void> called;
  for (const bool timed : {false, true}) {
    const auto handler = [&](const tyer::failure&, const tyer::hold&) {
      if (++calls == 2) called.set_value();
    };
    timed ? tyer::async_try_acquire(make(c), asio::cancel_after(60s, handler))
          : tyer::async_try_acquire(make(c), handler);
  }
  soon(called.get_future());
  loop.run_all();
  loop.run_all();
  EXPECT_EQ(calls, 2);
}

TEST_F(asio_lifetimes, a_handler_ran_twice_where_its_executor_took_it_and_threw) {
  takes_and_throws loop;
  auto c = connect();
  std::atomic<int> calls{0};
  tyer::async_try_acquire(make(c), asio::bind_executor(throwing_executor{&loop},
                                                       [&](const tyer::failure&, const tyer::hold&) { ++calls; }));
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock{loop.mutex};
    return !loop.taken.empty();
  }));
  EXPECT_TRUE(c.close(5s)) << "the client goes on";
  loop.run_all();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace contract
