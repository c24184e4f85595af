// For those who use Boost.Asio: every call with any completion token and with cancellation.
//
//   asio::awaitable<void> sell(tyer::mutex& order) {
//     tyer::hold h = co_await tyer::async_acquire(order, asio::cancel_after(5s));
//     ...
//     co_await tyer::async_release(std::move(h));
//   }
//
// Completion signatures: void(tyer::failure, tyer::hold) and void(tyer::failure, tyer::release_outcome). With tokens that
// throw, a failure becomes tyer::error; contention is an empty hold. Handlers run on their associated executor, else on
// `client_options::completions`, else on a thread of the client; never inside the initiating call. A cancelled acquire
// ends with errc::cancelled, and what was already sent is taken back.
#pragma once

#include <tyer/acquirable.hpp>
#include <tyer/detail/async.hpp>
#include <tyer/error.hpp>
#include <tyer/hold.hpp>
#include <tyer/options.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/disposition.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/system_executor.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

// co_await and use_future throw tyer::error, with the engine's words.
template <>
struct boost::asio::disposition_traits<tyer::failure> {
  static bool not_an_error(const tyer::failure& f) noexcept { return !f; }
  static void throw_exception(const tyer::failure& f) { throw tyer::error(f); }
  static std::exception_ptr to_exception_ptr(const tyer::failure& f) noexcept {
    return f ? std::make_exception_ptr(tyer::error(f)) : nullptr;
  }
};

namespace tyer {
inline namespace v1 {

// For client_options::completions.
template <class AsioExecutor>
executor run_on(AsioExecutor ex) {
  return [ex](std::function<void()> f) { boost::asio::post(ex, std::move(f)); };
}

namespace detail {

// A handler on its way home: to its own executor, or to the client's.
template <class Handler>
class homing {
  using home = boost::asio::associated_executor_t<Handler>;
  static constexpr bool has_home = !std::is_same_v<home, boost::asio::system_executor>;
  static auto tracked(const Handler& h) {
    if constexpr (has_home) {
      return boost::asio::prefer(boost::asio::get_associated_executor(h),
                                 boost::asio::execution::outstanding_work.tracked);
    } else {
      return 0;
    }
  }

 public:
  homing(Handler h, executor fallback) : work_(tracked(h)), handler_(std::move(h)), fallback_(std::move(fallback)) {}

  template <class Result>
  void go(failure f, Result r) {
    auto run = [handler = std::move(handler_), f = std::move(f), r = std::move(r)]() mutable {
      if (auto slot = boost::asio::get_associated_cancellation_slot(handler); slot.is_connected()) slot.clear();
      std::move(handler)(std::move(f), std::move(r));
    };
    if constexpr (has_home) {
      const auto ex = work_;
      boost::asio::post(ex, std::move(run));
    } else {
      auto shared = std::make_shared<decltype(run)>(std::move(run));  // std::function wants copies
      fallback_([shared] { (*shared)(); });
    }
  }

 private:
  decltype(tracked(std::declval<const Handler&>())) work_;  // keeps the executor's loop running meanwhile
  Handler handler_;
  executor fallback_;
};

template <class Handler>
class asio_acquire final : public acquire_handler {
 public:
  asio_acquire(Handler h, executor fallback) : homing_(std::move(h), std::move(fallback)) {}
  void done(failure f, hold h) override { homing_.go(std::move(f), std::move(h)); }

 private:
  homing<Handler> homing_;
};

template <class Handler>
class asio_release final : public release_handler {
 public:
  asio_release(Handler h, executor fallback) : homing_(std::move(h), std::move(fallback)) {}
  void done(failure f, release_outcome o) override { homing_.go(std::move(f), o); }

 private:
  homing<Handler> homing_;
};

struct initiate_acquire {
  template <class Handler>
  void operator()(Handler&& handler, const acquirable& m, acquire_terms terms) const {
    using H = std::decay_t<Handler>;
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    auto op = std::make_unique<asio_acquire<H>>(std::forward<Handler>(handler), fallback<H>(m));
    if (!slot.is_connected()) {
      start_acquire(m, terms, std::move(op));
      return;
    }
    // The slot is filled before the call starts: afterwards its handler may already be gone.
    auto box = std::make_shared<std::weak_ptr<pending_acquire>>();
    slot.assign([box](boost::asio::cancellation_type type) {
      if (type == boost::asio::cancellation_type::none) return;
      if (const auto p = box->lock()) p->cancel();
    });
    *box = start_acquire(m, terms, std::move(op));
  }

  template <class H>
  static executor fallback(const acquirable& m) {
    if constexpr (std::is_same_v<boost::asio::associated_executor_t<H>, boost::asio::system_executor>) {
      return default_executor(m);
    } else {
      return {};
    }
  }
};

// For asio::cancel_after without a timer of its own: asks the operation for an executor to put a timer on. Ours is not an
// Asio one, so the timer goes to the handler's.
template <class Clock, class Traits>
struct initiate_acquire_within {
  template <class Handler>
  void operator()(Handler&& handler, const typename Clock::duration& limit, boost::asio::cancellation_type_t how,
                  const acquirable& m, acquire_terms terms) const {
    using home = boost::asio::associated_executor_t<std::decay_t<Handler>>;
    static_assert(!std::is_same_v<home, boost::asio::system_executor>,
                  "cancel_after needs a handler with an executor: bind one, or use async_try_acquire_for");
    const auto timer = std::make_shared<boost::asio::basic_waitable_timer<Clock, Traits, home>>(
        boost::asio::get_associated_executor(handler));
    auto token =
        boost::asio::cancel_after(*timer, limit, how, boost::asio::consign(std::forward<Handler>(handler), timer));
    boost::asio::async_initiate<decltype(token), void(failure, hold)>(initiate_acquire{}, token, acquirable{m}, terms);
  }
};

template <class Token>
auto acquire_with(Token& token, const acquirable& m, const acquire_terms& terms) {
  return boost::asio::async_initiate<Token, void(failure, hold)>(initiate_acquire{}, token, acquirable{m}, terms);
}
template <class Token, class Clock, class Traits>
auto acquire_with(const boost::asio::cancel_after_t<Token, Clock, Traits>& token, const acquirable& m,
                  const acquire_terms& terms) {
  auto inner = token.token_;
  return boost::asio::async_initiate<Token, void(failure, hold)>(
      initiate_acquire_within<Clock, Traits>{}, inner, token.timeout_, token.cancel_type_, acquirable{m}, terms);
}
template <class Clock, class Traits>
auto acquire_with(const boost::asio::partial_cancel_after<Clock, Traits>& token, const acquirable& m,
                  const acquire_terms& terms) {
  return acquire_with(token(boost::asio::deferred), m, terms);
}
template <class Token, class Clock, class Traits>
auto acquire_with(boost::asio::cancel_after_t<Token, Clock, Traits>& token, const acquirable& m,
                  const acquire_terms& terms) {
  return acquire_with(std::as_const(token), m, terms);
}
template <class Clock, class Traits>
auto acquire_with(boost::asio::partial_cancel_after<Clock, Traits>& token, const acquirable& m,
                  const acquire_terms& terms) {
  return acquire_with(std::as_const(token), m, terms);
}

struct initiate_release {
  template <class Handler>
  void operator()(Handler&& handler, hold h) const {
    using H = std::decay_t<Handler>;
    executor fallback;
    if constexpr (std::is_same_v<boost::asio::associated_executor_t<H>, boost::asio::system_executor>) {
      fallback = default_executor(h);
    }
    start_release(std::move(h), std::make_unique<asio_release<H>>(std::forward<Handler>(handler), std::move(fallback)));
  }
};

}  // namespace detail

// Waits in the queue. Takes a mutex, a semaphore, the shared side of a shared_mutex ...
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_acquire(const acquirable& m, Token&& token = {},
                                 std::source_location where = std::source_location::current()) {
  return detail::acquire_with(token, m, {.where = where});
}

// Waits at most that long; then the hold is empty if others have it, and errc::unavailable if the engine is silent. A limit
// that is not above zero is async_try_acquire.
template <class Rep, class Period, class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_try_acquire_for(const acquirable& m, const std::chrono::duration<Rep, Period>& at_most,
                                         Token&& token = {},
                                         std::source_location where = std::source_location::current()) {
  return detail::acquire_with(token, m, {.at_most = detail::to_wait(at_most), .where = where});
}

// One attempt: an empty hold if somebody has it.
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_try_acquire(const acquirable& m, Token&& token = {},
                                     std::source_location where = std::source_location::current()) {
  return detail::acquire_with(token, m, {.waits = false, .where = where});
}

// Gives the lock back and tells the outcome. Takes the hold: it is empty afterwards.
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_release(hold&& h, Token&& token = {}) {
  return boost::asio::async_initiate<Token, void(failure, release_outcome)>(detail::initiate_release{}, token,
                                                                            std::move(h));
}
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_release(hold& h, Token&& token = {}) {
  return async_release(std::move(h), std::forward<Token>(token));
}

}  // namespace v1
}  // namespace tyer
