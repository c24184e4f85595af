// Every call for Boost.Asio, with any completion token and with cancellation.
//
//   asio::awaitable<void> sell(tyer::mutex& order) {
//     tyer::hold h = co_await tyer::async_acquire(order, asio::cancel_after(5s));
//     ...
//     co_await tyer::async_release(std::move(h));
//   }
//
// Give the result a name: `co_await tyer::async_acquire(order);` releases the lock in the same line, and only Clang warns of
// it. With GCC 12 do not construct a lock with braced options in the same expression as a co_await (`tyer::mutex{client, "a",
// {.ttl = 5s}}`): the compiler copies the temporary byte by byte, and the process crashes. Construct the lock in a line of
// its own.
//
//   call                                                | completes with                        | when it is cancelled
//   ----------------------------------------------------+---------------------------------------+------------------------------
//   async_acquire, async_try_acquire, .._for, .._until  | void(failure, hold)                   | what was sent is taken back
//   the same of a multi_mutex                           | void(failure, multi_hold)             | what was taken is given back
//   async_upgrade, async_try_upgrade, .._for, .._until  | void(failure, bool)                   | the hold is shared as before
//   async_confirm of a hold or a multi_hold             | void(failure, bool)                   | it goes on, and nobody waits
//   async_wait_ready                                    | void(failure)                         | nothing else happens
//   async_release of a hold or a multi_hold             | void(failure, release_outcome)        | it goes on, and nobody waits
//
// A cancelled call ends with errc::cancelled, or with its answer if that came first. Every type of cancellation does the
// same. With tokens that throw, a failure becomes tyer::error; contention is an empty hold.
//
//   token                                               | what it gives here
//   ----------------------------------------------------+------------------------------------------------------------------
//   a callable, moved or copied; any_completion_handler | is called with the above; a copy leaves the original as it was
//   deferred (also no token at all), use_awaitable      | the value, or throws tyer::error
//   use_future                                          | the same in a std::future
//   detached, consign, append, prepend                  | as with any operation
//   as_tuple                                            | a tuple that begins with the failure; throws nothing
//   redirect_error                                      | the value; the code is set, also to success, and words are left out
//   cancel_after, cancel_at                             | errc::cancelled when the time is over
//   bind_executor, bind_allocator, bind_cancellation_slot, bind_immediate_executor | see below
//
// They can be combined in any order.
//
// Handlers run on their associated executor, else on `client_options::completions`, else on a thread of the client; never
// inside the initiating call, nor inside another handler: they are posted. For an executor without post, the handler is
// dispatched from where completions run. So an immediate executor is never used. Memory for the handler comes from its
// associated allocator, and is given back before the handler is called. A call under way counts as work of the handler's
// executor. A handler without an executor must not throw: that would end the process. In a forked child such a handler runs
// inside the call, with errc::forked.
//
// The timers of cancel_after and cancel_at live in the context of the handler's executor. If that executor has no context,
// they live on one thread of their own for the whole process, on which no handler runs. The call's completion and its timer's
// are serialised, on a thread pool too; with a timer of your own Asio needs a strand for that. Both properties are
// implemented by specialising the initiation types that cancel_after and cancel_at use inside Asio, since no documented way
// tells an initiation its handler. If a later Boost has other types there, these two tokens do not compile, and everything
// else works as before: async_try_acquire_for does not use them.
//
// Lifetimes: context and client may end in any order. When a context ends (io_context, thread_pool), the handlers of its
// calls are destroyed without being called, as Asio does with its own; the calls are cancelled, and locks that they may have
// got are released. Calls that begin later in such a context do nothing. The same holds for `completions` made by run_on. An
// executor of your own that does not reveal its context (execution::context) must outlive the call.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <boost/version.hpp>
#if BOOST_VERSION < 108800
#error "tyer/asio.hpp needs Boost 1.88 or newer"
#endif

#include <tyer/acquirable.hpp>
#include <tyer/client.hpp>
#include <tyer/detail/asio_call.hpp>
#include <tyer/detail/asio_tokens.hpp>
#include <tyer/detail/async.hpp>
#include <tyer/error.hpp>
#include <tyer/hold.hpp>
#include <tyer/multi_mutex.hpp>
#include <tyer/options.hpp>
#include <tyer/shared_mutex.hpp>

#include <boost/asio/deferred.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <source_location>
#include <utility>

namespace tyer {
inline namespace v1 {

// For client_options::completions. Completions that come after the executor's context has ended are destroyed without being
// run.
template <class AsioExecutor>
completion_executor run_on(AsioExecutor ex) {
  auto there = std::make_shared<detail::completions_on<AsioExecutor>>(std::move(ex));
  there->enter();
  return [there](std::function<void()> f) { there->post(std::move(f)); };
}

// Waits in the queue. Takes a mutex, a semaphore, the shared side of a shared_mutex ...
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_acquire(const acquirable& m, Token&& token = {},
                                 std::source_location where = std::source_location::current()) {
  return detail::acquire_with(m, detail::acquire_terms{.where = where}, std::forward<Token>(token));
}
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_acquire(const multi_mutex& m, Token&& token = {},
                                 std::source_location where = std::source_location::current()) {
  return detail::acquire_with(m, detail::acquire_terms{.where = where}, std::forward<Token>(token));
}

// Waits at most that long; then the hold is empty if others have it, and errc::unavailable if the engine is silent. A limit
// of zero or less means async_try_acquire.
template <class Rep, class Period, class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_try_acquire_for(const acquirable& m, const std::chrono::duration<Rep, Period>& at_most,
                                         Token&& token = {},
                                         std::source_location where = std::source_location::current()) {
  return detail::acquire_with(m, detail::acquire_terms{.at_most = detail::to_wait(at_most), .where = where},
                              std::forward<Token>(token));
}
template <class Rep, class Period, class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_try_acquire_for(const multi_mutex& m, const std::chrono::duration<Rep, Period>& at_most,
                                         Token&& token = {},
                                         std::source_location where = std::source_location::current()) {
  return detail::acquire_with(m, detail::acquire_terms{.at_most = detail::to_wait(at_most), .where = where},
                              std::forward<Token>(token));
}

// The same, until a time by any clock. What is left until then is computed when the call begins.
template <class Clock, class Duration, class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_try_acquire_until(const acquirable& m, const std::chrono::time_point<Clock, Duration>& limit,
                                           Token&& token = {},
                                           std::source_location where = std::source_location::current()) {
  return detail::acquire_with(m, detail::terms_until<Clock, Duration>{limit, where}, std::forward<Token>(token));
}
template <class Clock, class Duration, class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_try_acquire_until(const multi_mutex& m, const std::chrono::time_point<Clock, Duration>& limit,
                                           Token&& token = {},
                                           std::source_location where = std::source_location::current()) {
  return detail::acquire_with(m, detail::terms_until<Clock, Duration>{limit, where}, std::forward<Token>(token));
}

// One attempt: an empty hold if somebody has it.
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_try_acquire(const acquirable& m, Token&& token = {},
                                     std::source_location where = std::source_location::current()) {
  return detail::acquire_with(m, detail::acquire_terms{.waits = false, .where = where}, std::forward<Token>(token));
}
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_try_acquire(const multi_mutex& m, Token&& token = {},
                                     std::source_location where = std::source_location::current()) {
  return detail::acquire_with(m, detail::acquire_terms{.waits = false, .where = where}, std::forward<Token>(token));
}

// As shared_mutex::upgrade and its variants. The hold stays with its owner, who may move it meanwhile; releasing it ends the
// call with errc::lost.
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_upgrade(const shared_mutex& m, hold& h, Token&& token = {}) {
  return detail::upgrade_with(m, h, detail::acquire_terms{}, std::forward<Token>(token));
}
// The same, until the limit: false if others still read then.
template <class Rep, class Period, class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_try_upgrade_for(const shared_mutex& m, hold& h,
                                         const std::chrono::duration<Rep, Period>& at_most, Token&& token = {}) {
  return detail::upgrade_with(m, h, detail::acquire_terms{.at_most = detail::to_wait(at_most)},
                              std::forward<Token>(token));
}
// The same, until a time by any clock.
template <class Clock, class Duration, class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_try_upgrade_until(const shared_mutex& m, hold& h,
                                           const std::chrono::time_point<Clock, Duration>& limit, Token&& token = {}) {
  return detail::upgrade_with(m, h, detail::terms_until<Clock, Duration>{limit}, std::forward<Token>(token));
}
// One attempt: false if others read.
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_try_upgrade(const shared_mutex& m, hold& h, Token&& token = {}) {
  return detail::upgrade_with(m, h, detail::acquire_terms{.waits = false}, std::forward<Token>(token));
}

// As hold::confirm: true if it stands, false if it is lost. The hold may be moved meanwhile.
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_confirm(const hold& h, Token&& token = {}) {
  return detail::confirm_with(h, std::forward<Token>(token));
}
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_confirm(const multi_hold& h, Token&& token = {}) {
  return detail::confirm_with(h, std::forward<Token>(token));
}
// A temporary hold would be released at once: name it.
template <class Token = boost::asio::deferred_t>
auto async_confirm(const hold&&, Token&& = {}) = delete;
template <class Token = boost::asio::deferred_t>
auto async_confirm(const multi_hold&&, Token&& = {}) = delete;

// Waits until the engine has answered once; errc::unavailable, with what went wrong, if it does not in time.
template <class Rep, class Period, class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_wait_ready(const client& c, const std::chrono::duration<Rep, Period>& at_most,
                                    Token&& token = {}) {
  return detail::wait_ready_with(c, detail::to_wait(at_most), std::forward<Token>(token));
}

// Releases the lock and reports the outcome. The hold is empty afterwards, as after hold::release().
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_release(hold&& h, Token&& token = {}) {
  return detail::release_with(std::move(h), std::forward<Token>(token));
}
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_release(hold& h, Token&& token = {}) {
  return detail::release_with(std::move(h), std::forward<Token>(token));
}
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_release(multi_hold&& h, Token&& token = {}) {
  return detail::release_with(std::move(h), std::forward<Token>(token));
}
template <class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_release(multi_hold& h, Token&& token = {}) {
  return detail::release_with(std::move(h), std::forward<Token>(token));
}

}  // namespace v1
}  // namespace tyer
