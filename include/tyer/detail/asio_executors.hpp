// Where the calls of <tyer/asio.hpp> are at home, as Boost.Asio wants to be told. Not for direct use.
#pragma once

#include <tyer/detail/async.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/system_context.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

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
    auto shared = std::make_shared<std::decay_t<F>>(std::forward<F>(f));  // std::function wants copies
    complete_at(home_, [shared] { std::move (*shared)(); });
  }
  bool operator==(const home_executor&) const noexcept = default;

 private:
  home home_;
};

// The loop for the timers of cancel_after and cancel_at, on a thread of its own. Never destroyed, since nobody knows who is the
// last to need it; a forked child, in which that thread is not, has one of its own.
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

// Whether all that is given to an executor runs on a loop or pool of its own. Else it may run where it is given: what
// must not run at once has to come from one thread then.
template <class Executor>
consteval bool has_a_loop() {
  namespace asio = boost::asio;
  if constexpr (std::is_same_v<Executor, asio::any_io_executor> || !asio::execution::is_executor_v<Executor>) {
    return true;
  } else if constexpr (!asio::can_query_v<Executor, asio::execution::context_t>) {
    return false;
  } else {
    using context = std::decay_t<decltype(asio::query(std::declval<const Executor&>(), asio::execution::context))>;
    return !std::is_same_v<context, asio::execution_context> && !std::is_same_v<context, asio::system_context>;
  }
}

// Where one call will end. Asio asks for it, for a timer, before the handler is known: what is to run there waits until then.
// A timer that rings before the call has begun would find nothing to cancel, and the call would wait for ever: no timer
// rings from hush() until the call has begun (or a second has passed: somebody may ask and never begin).
class call_place {
 public:
  static void hush(const std::shared_ptr<call_place>& p) {
    boost::asio::post(timer_loop(), [mine = p] {
      std::unique_lock lock{mine->mutex_};
      mine->changed_.wait_for(lock, std::chrono::seconds{1}, [&] { return mine->begun_; });
    });
  }
  void begun() {
    const std::lock_guard lock{mutex_};
    begun_ = true;
    changed_.notify_all();
  }
  bool is_known() {
    const std::lock_guard lock{mutex_};
    return where_.has_value();
  }
  template <class Executor>
  void settle(const Executor& ex) {
    std::vector<boost::asio::any_completion_handler<void()>> early;
    {
      const std::lock_guard lock{mutex_};
      where_.emplace(ex);
      early.swap(early_);
    }
    for (auto& f : early) run_there(std::move(f));
  }
  template <class F>
  void execute(F&& f) {
    std::unique_lock lock{mutex_};
    if (!where_) {
      early_.emplace_back(std::forward<F>(f));
      return;
    }
    lock.unlock();  // it stays what it is
    run_there(std::forward<F>(f));
  }

 private:
  // As work of its own: what is run may be the last that the loop there waits for, and the loop must not end before we are out.
  template <class F>
  void run_there(F&& f) {
    const auto there = boost::asio::prefer(*where_, boost::asio::execution::outstanding_work.tracked);
    there.execute(std::forward<F>(f));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool begun_ = false;
  std::optional<boost::asio::any_completion_executor> where_;
  std::vector<boost::asio::any_completion_handler<void()>> early_;
};

// The executor of one call: it has a loop for timers, and runs things where the call's handler runs.
class call_executor {
 public:
  explicit call_executor(std::shared_ptr<call_place> p) noexcept : place_(std::move(p)) {}

  static constexpr boost::asio::execution::blocking_t::never_t query(boost::asio::execution::blocking_t) noexcept {
    return {};
  }
  static boost::asio::execution_context& query(boost::asio::execution::context_t) { return timer_loop(); }
  template <class F>
  void execute(F&& f) const {
    place_->execute(std::forward<F>(f));
  }
  bool operator==(const call_executor&) const noexcept = default;

 private:
  std::shared_ptr<call_place> place_;
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
