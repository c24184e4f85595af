// Asynchronous calls with a callback and a std::stop_token: for Qt, libuv, standalone Asio, senders, or a loop of your own.
// With Boost.Asio use <tyer/asio.hpp>.
//
//   tyer::start_acquire(order, [](tyer::failure why, tyer::hold h) { ... }, stop.get_token());
//
//   call                                           | the callback gets          | when it is stopped (errc::cancelled)
//   -----------------------------------------------+----------------------------+---------------------------------------
//   start_acquire, start_try_acquire, .._for/until | failure, hold              | what was sent is taken back
//   the same of a multi_mutex                      | failure, multi_hold        | what was taken is given back
//   start_upgrade, start_try_upgrade, .._for/until | failure, bool              | the hold is shared as before
//   start_confirm of a hold or a multi_hold        | failure, bool              | it goes on, and nobody waits for it
//   start_wait_ready                               | failure                    | nothing else happens
//   start_release of a hold or a multi_hold        | failure, release_outcome   | it goes on, and nobody waits for it
//
// No call blocks, and none throws except when memory is exhausted, or for an empty std::function (errc::invalid_option):
// contention is an empty hold, and everything else a failure. A stop that comes after the answer changes nothing.
//
// The callback is called once, also when the client is closed, and never inside the call: where `client_options::completions`
// puts it, else on a thread of the client, one after the other. (A loop that destroys it uncalled destroys its answer too: a
// hold in it is released.) If memory runs out during the call, the callback gets std::errc::not_enough_memory. In a forked
// child, which has no thread of the client, the callback runs inside the call, with errc::forked. So give the client your
// loop, which must queue the function and run it later (a function that the loop runs at once is run on the client's thread
// instead):
//
//   libuv            | [&](auto f) { queue.push(std::move(f)); uv_async_send(&wake); }    // and run the queue in its callback
//   Qt               | [=](auto f) { QMetaObject::invokeMethod(object, std::move(f), Qt::QueuedConnection); }
//   standalone Asio  | [ex](auto f) { asio::post(ex, std::move(f)); }
//
// For a call without a client (an empty hold), or whose client was closed, the callback runs on a detached thread. At exit
// the process waits for it for at most a second, also for calls made by destructors of static objects: after static objects
// made later than the call are destroyed, and before those that existed when the call was made.
//
// The callback may fork. The child may make a client of its own and block on it; if the child returns from the callback, it
// ends there, as by _exit(0).
//
// The callback may be any movable callable. An exception that it throws reaches its caller: a loop of yours, or a thread of
// the client, where it ends the process. What the callback owns is destroyed on the thread that called it. The arguments of a
// call need not outlive the function that starts it.
//
// Thread safety: everything may be called from any thread.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/acquirable.hpp>
#include <tyer/client.hpp>
#include <tyer/detail/async.hpp>
#include <tyer/detail/callback.hpp>
#include <tyer/detail/to_wait.hpp>
#include <tyer/error.hpp>
#include <tyer/hold.hpp>
#include <tyer/multi_mutex.hpp>
#include <tyer/shared_mutex.hpp>

#include <chrono>
#include <concepts>
#include <source_location>
#include <stop_token>
#include <utility>

namespace tyer {
inline namespace v1 {

// The lock comes first in each list of constraints: a callback with `auto` parameters is not tried with the answer of the
// other kind of lock.

// Waits in the queue. Takes a mutex, a semaphore, the shared side of a shared_mutex ...
template <std::convertible_to<const acquirable&> Lock, std::invocable<failure, hold> Done>
void start_acquire(const Lock& m, Done done, std::stop_token stop = {},
                   std::source_location where = std::source_location::current()) {
  detail::acquire_then(m, {.where = where}, std::move(done), std::move(stop));
}
template <std::convertible_to<const multi_mutex&> Locks, std::invocable<failure, multi_hold> Done>
void start_acquire(const Locks& m, Done done, std::stop_token stop = {},
                   std::source_location where = std::source_location::current()) {
  detail::acquire_then(m, {.where = where}, std::move(done), std::move(stop));
}

// Waits at most that long; then the hold is empty if others have it, and errc::unavailable if the engine is silent. A limit
// of zero or less means start_try_acquire.
template <class Rep, class Period, std::convertible_to<const acquirable&> Lock, std::invocable<failure, hold> Done>
void start_try_acquire_for(const Lock& m, const std::chrono::duration<Rep, Period>& at_most, Done done,
                           std::stop_token stop = {}, std::source_location where = std::source_location::current()) {
  detail::acquire_then(m, {.at_most = detail::to_wait(at_most), .where = where}, std::move(done), std::move(stop));
}
template <class Rep, class Period, std::convertible_to<const multi_mutex&> Locks,
          std::invocable<failure, multi_hold> Done>
void start_try_acquire_for(const Locks& m, const std::chrono::duration<Rep, Period>& at_most, Done done,
                           std::stop_token stop = {}, std::source_location where = std::source_location::current()) {
  detail::acquire_then(m, {.at_most = detail::to_wait(at_most), .where = where}, std::move(done), std::move(stop));
}

// The same, until a time by any clock.
template <class Clock, class Duration, std::convertible_to<const acquirable&> Lock, std::invocable<failure, hold> Done>
void start_try_acquire_until(const Lock& m, const std::chrono::time_point<Clock, Duration>& limit, Done done,
                             std::stop_token stop = {}, std::source_location where = std::source_location::current()) {
  detail::acquire_then(m, {.at_most = detail::to_wait(limit), .where = where}, std::move(done), std::move(stop));
}
template <class Clock, class Duration, std::convertible_to<const multi_mutex&> Locks,
          std::invocable<failure, multi_hold> Done>
void start_try_acquire_until(const Locks& m, const std::chrono::time_point<Clock, Duration>& limit, Done done,
                             std::stop_token stop = {}, std::source_location where = std::source_location::current()) {
  detail::acquire_then(m, {.at_most = detail::to_wait(limit), .where = where}, std::move(done), std::move(stop));
}

// One attempt: an empty hold if somebody has it.
template <std::convertible_to<const acquirable&> Lock, std::invocable<failure, hold> Done>
void start_try_acquire(const Lock& m, Done done, std::stop_token stop = {},
                       std::source_location where = std::source_location::current()) {
  detail::acquire_then(m, {.waits = false, .where = where}, std::move(done), std::move(stop));
}
template <std::convertible_to<const multi_mutex&> Locks, std::invocable<failure, multi_hold> Done>
void start_try_acquire(const Locks& m, Done done, std::stop_token stop = {},
                       std::source_location where = std::source_location::current()) {
  detail::acquire_then(m, {.waits = false, .where = where}, std::move(done), std::move(stop));
}

// As shared_mutex::upgrade and its variants. The hold stays with its owner, who may move it meanwhile; releasing it ends the
// call with errc::lost.
template <std::invocable<failure, bool> Done>
void start_upgrade(const shared_mutex& m, hold& h, Done done, std::stop_token stop = {}) {
  detail::upgrade_then(m, h, {}, std::move(done), std::move(stop));
}
// The same, until the limit: false if others still read then.
template <class Rep, class Period, std::invocable<failure, bool> Done>
void start_try_upgrade_for(const shared_mutex& m, hold& h, const std::chrono::duration<Rep, Period>& at_most, Done done,
                           std::stop_token stop = {}) {
  detail::upgrade_then(m, h, {.at_most = detail::to_wait(at_most)}, std::move(done), std::move(stop));
}
// The same, until a time by any clock.
template <class Clock, class Duration, std::invocable<failure, bool> Done>
void start_try_upgrade_until(const shared_mutex& m, hold& h, const std::chrono::time_point<Clock, Duration>& limit,
                             Done done, std::stop_token stop = {}) {
  detail::upgrade_then(m, h, {.at_most = detail::to_wait(limit)}, std::move(done), std::move(stop));
}
// One attempt: false if others read.
template <std::invocable<failure, bool> Done>
void start_try_upgrade(const shared_mutex& m, hold& h, Done done, std::stop_token stop = {}) {
  detail::upgrade_then(m, h, {.waits = false}, std::move(done), std::move(stop));
}

// As hold::confirm: true if it stands, false if it is lost. The hold may be moved meanwhile.
template <std::invocable<failure, bool> Done>
void start_confirm(const hold& h, Done done, std::stop_token stop = {}) {
  detail::confirm_then(h, std::move(done), std::move(stop));
}
template <std::invocable<failure, bool> Done>
void start_confirm(const multi_hold& h, Done done, std::stop_token stop = {}) {
  detail::confirm_then(h, std::move(done), std::move(stop));
}
// A temporary hold would be released at once: name it.
template <class Done>
void start_confirm(const hold&&, Done, std::stop_token = {}) = delete;
template <class Done>
void start_confirm(const multi_hold&&, Done, std::stop_token = {}) = delete;

// Waits until the engine has answered once; errc::unavailable, with what went wrong, if it does not in time.
template <class Rep, class Period, std::invocable<failure> Done>
void start_wait_ready(const client& c, const std::chrono::duration<Rep, Period>& at_most, Done done,
                      std::stop_token stop = {}) {
  detail::wait_ready_then(c, detail::to_wait(at_most), std::move(done), std::move(stop));
}

// Releases the lock and reports the outcome. The hold is empty afterwards, as after hold::release().
template <std::invocable<failure, release_outcome> Done>
void start_release(hold&& h, Done done, std::stop_token stop = {}) {
  detail::release_then(h, std::move(done), std::move(stop));
}
template <std::invocable<failure, release_outcome> Done>
void start_release(hold& h, Done done, std::stop_token stop = {}) {
  detail::release_then(h, std::move(done), std::move(stop));
}
template <std::invocable<failure, release_outcome> Done>
void start_release(multi_hold&& h, Done done, std::stop_token stop = {}) {
  detail::release_then(h, std::move(done), std::move(stop));
}
template <std::invocable<failure, release_outcome> Done>
void start_release(multi_hold& h, Done done, std::stop_token stop = {}) {
  detail::release_then(h, std::move(done), std::move(stop));
}

}  // namespace v1
}  // namespace tyer
