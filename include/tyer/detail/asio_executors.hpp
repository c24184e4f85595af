// The executors on which calls of <tyer/asio.hpp> complete. Not for direct use.
#pragma once

#include <tyer/detail/async.hpp>

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>

#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

// For handlers without an executor: where the client's completions run.
class home_executor {
 public:
  explicit home_executor(home h) noexcept : home_(std::move(h)) {}

  static constexpr boost::asio::execution::blocking_t::never_t query(boost::asio::execution::blocking_t) noexcept {
    return {};
  }
  template <class F>
  void execute(F&& f) const {
    auto shared = std::make_shared<std::decay_t<F>>(std::forward<F>(f));  // std::function must be copyable
    complete_at(home_, [shared] { std::move (*shared)(); });
  }
  bool operator==(const home_executor&) const noexcept = default;
  const home& where() const noexcept { return home_; }

 private:
  home home_;
};

// The loop, on a thread of its own, for the timers of cancel_after and cancel_at when the handler's executor has no context.
// It is never destroyed, since its last user is not known. A forked child does not have that thread, and makes a loop of its
// own.
inline boost::asio::io_context& timer_loop() {
  struct loop {
    boost::asio::io_context io{1};
    decltype(boost::asio::make_work_guard(io)) busy = boost::asio::make_work_guard(io);
    const ::pid_t born_in = ::getpid();
  };
  static std::atomic<loop*> current{nullptr};
  loop* now = current.load(std::memory_order_acquire);
  while (now == nullptr || now->born_in != ::getpid()) {
    auto fresh = std::make_unique<loop>();
    if (!current.compare_exchange_strong(now, fresh.get(), std::memory_order_acq_rel)) continue;
    now = fresh.release();
    std::thread{[now] { now->io.run(); }}.detach();
  }
  return now->io;
}

// An executor with a work guard, which keeps its loop running. (executor_work_guard does not accept every executor, for
// example no strand<any_io_executor>.)
template <class Executor, bool = boost::asio::execution::is_executor_v<Executor>>
class at_work {
 public:
  explicit at_work(const Executor& ex)
      : executor_(boost::asio::prefer(ex, boost::asio::execution::outstanding_work.tracked)) {}
  const auto& get_executor() const noexcept { return executor_; }

 private:
  std::decay_t<decltype(boost::asio::prefer(std::declval<const Executor&>(),
                                            boost::asio::execution::outstanding_work.tracked))>
      executor_;
};
template <class Executor>
class at_work<Executor, false> : public boost::asio::executor_work_guard<Executor> {
 public:
  explicit at_work(const Executor& ex) : boost::asio::executor_work_guard<Executor>(ex) {}
};

// The caller's code must not run where an answer arrives: that is between two requests, on the thread that drives the client,
// which may be in the middle of another call; nor on the timers' thread. So handlers are always posted. For an executor that
// does not support post, they are dispatched from where completions run.
template <class Executor>
inline constexpr bool can_be_posted_to =
    !boost::asio::execution::is_executor_v<Executor> ||
    boost::asio::can_require_v<Executor, boost::asio::execution::blocking_t::never_t>;

}  // namespace detail
}  // namespace v1
}  // namespace tyer
