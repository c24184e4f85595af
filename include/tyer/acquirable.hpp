// What every primitive is: a lock that can be acquired, in the same few ways.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/detail/to_wait.hpp>
#include <tyer/error.hpp>
#include <tyer/export.hpp>
#include <tyer/hold.hpp>

#include <chrono>
#include <memory>
#include <source_location>
#include <stop_token>
#include <string_view>
#include <utility>

namespace tyer {
inline namespace v1 {

namespace detail {
class lock_state;
struct access;
}  // namespace detail

// A name, a mode and options on one client. `mutex`, `shared_mutex`, `semaphore` and `election` are acquirable; so are the
// shared side of a shared_mutex and any number of permits of a semaphore. <tyer/asio.hpp> takes any of them.
//
//   call                      | free        | others have it                  | engine away
//   --------------------------+-------------+---------------------------------+--------------------------------------
//   acquire                   | hold        | waits in the queue              | waits `unavailable_after`, then throws
//   try_acquire_for, _until   | hold        | waits in the queue, then empty  | waits until the limit, then throws
//   try_acquire               | hold        | empty at once                   | throws after `request_timeout`
//
// `unavailable_after` counts for each caller from its own call, or from when the engine fell silent, if that was later.
// An engine whose answers all come too late for the ttl counts as away: acquire throws after the third such answer at the
// earliest (words() name the time it took and the ttl).
//
// When memory is exhausted, a call fails with std::errc::not_enough_memory, leaves nothing behind and affects no other call.
//
// Contention is a value (an empty hold), never an exception; an outage is errc::unavailable, never an empty hold alone: a
// limit that passes while the engine is silent throws. Every call has a form that throws nothing and reports what went wrong
// in its first argument. A limit of zero or less means try_acquire; the longest possible limit means acquire.
//
// Fairness: first come, first served among the clients of the engine, whatever the mode; inside one client too, with up to
//   `local_handoffs` turns in a row. try_acquire is one attempt and fails while others queue.
// Deadlock: a caller that waits for a lock it already holds waits for ever, unless `refuse_own_wait` is set. So does
//   `h = m.acquire()` while h holds m, since the old hold ends only after the new one exists (write h = {} first). Two objects of
//   one name are one lock: a std::scoped_lock of both never returns; a multi_mutex of both does.
// Cancellation: a std::stop_token ends the wait (errc::cancelled); a request that was already sent is taken back.
// Thread safety: everything may be called from any thread; assignment needs the same care as for any object.
// Lifetimes: keeps its client's engine alive; holds outlive it. A copy is the same lock. A move copies, so the
//   moved-from object keeps working.
class TYER_EXPORT acquirable {
 public:
  acquirable(const acquirable&) noexcept = default;
  acquirable& operator=(const acquirable&) noexcept = default;

  hold acquire(std::source_location where = std::source_location::current()) const;
  hold acquire(std::stop_token stop, std::source_location where = std::source_location::current()) const;
  hold acquire(failure& why, std::stop_token stop = {},
               std::source_location where = std::source_location::current()) const noexcept;

  hold try_acquire(std::source_location where = std::source_location::current()) const;
  hold try_acquire(failure& why, std::source_location where = std::source_location::current()) const noexcept;

  template <class Rep, class Period>
  hold try_acquire_for(const std::chrono::duration<Rep, Period>& at_most, std::stop_token stop = {},
                       std::source_location where = std::source_location::current()) const {
    return acquire_within(detail::to_wait(at_most), std::move(stop), where);
  }
  template <class Rep, class Period>
  hold try_acquire_for(failure& why, const std::chrono::duration<Rep, Period>& at_most, std::stop_token stop = {},
                       std::source_location where = std::source_location::current()) const noexcept {
    return acquire_within(why, detail::to_wait(at_most), std::move(stop), where);
  }

  template <class Clock, class Duration>
  hold try_acquire_until(const std::chrono::time_point<Clock, Duration>& limit, std::stop_token stop = {},
                         std::source_location where = std::source_location::current()) const {
    return acquire_within(detail::to_wait(limit), std::move(stop), where);
  }
  template <class Clock, class Duration>
  hold try_acquire_until(failure& why, const std::chrono::time_point<Clock, Duration>& limit, std::stop_token stop = {},
                         std::source_location where = std::source_location::current()) const noexcept {
    return acquire_within(why, detail::to_wait(limit), std::move(stop), where);
  }

  [[nodiscard]] std::string_view name() const& noexcept;
  std::string_view name() const&& = delete;  // it lives in the lock: name that

 private:
  friend struct detail::access;
  friend class mutex;
  friend class recursive_mutex;
  friend class shared_mutex;
  friend class semaphore;
  friend class election;
  hold acquire_within(std::chrono::nanoseconds at_most, std::stop_token stop, std::source_location where) const;
  hold acquire_within(failure& why, std::chrono::nanoseconds at_most, std::stop_token stop,
                      std::source_location where) const noexcept;
  explicit acquirable(std::shared_ptr<const detail::lock_state> s) noexcept : state_(std::move(s)) {}

  std::shared_ptr<const detail::lock_state> state_;
};

}  // namespace v1
}  // namespace tyer
