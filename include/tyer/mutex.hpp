// A distributed mutex with the names and the shape of the standard one.
#pragma once

#include <tyer/client.hpp>
#include <tyer/error.hpp>
#include <tyer/export.hpp>
#include <tyer/hold.hpp>
#include <tyer/options.hpp>

#include <chrono>
#include <memory>
#include <source_location>
#include <stop_token>
#include <string_view>

namespace tyer {
inline namespace v1 {

namespace detail {
class mutex_state;

// As the longest time there is if it is longer than that.
template <class Rep, class Period>
constexpr std::chrono::nanoseconds to_wait(const std::chrono::duration<Rep, Period>& d) {
  using std::chrono::nanoseconds;
  constexpr std::chrono::duration<double> longest = nanoseconds::max();
  return std::chrono::duration<double>{d} < longest / 2 ? std::chrono::ceil<nanoseconds>(d) : nanoseconds::max();
}
template <class Clock, class Duration>
std::chrono::nanoseconds to_wait(const std::chrono::time_point<Clock, Duration>& limit) {
  const auto now = Clock::now();
  return limit <= now ? std::chrono::nanoseconds::zero() : to_wait(limit - now);
}
}  // namespace detail

// Mutual exclusion by name, across processes and machines.
//
// Two faces of one lock:
//  - acquire() and its kin give a `hold`, the full answer: token, deadline, loss.
//  - lock(), try_lock(), unlock() ... make it TimedLockable, for std::scoped_lock, std::unique_lock and the rest. The
//    object is then also a local mutex: until unlock(), another lock() on the same object waits, even if the hold was
//    lost meanwhile. held() is the hold, for the owner, between lock and unlock.
//
//   call                      | free        | somebody has it                 | engine away
//   --------------------------+-------------+---------------------------------+--------------------------------------
//   acquire, lock             | hold        | waits in the queue              | waits `unavailable_after`, then throws
//   try_acquire_for, _until   | hold        | waits in the queue, then empty  | empty at the limit
//   try_acquire, try_lock     | hold        | empty at once                   | throws after `request_timeout`
//
// Fairness: first come, first served among the clients of the engine; inside one client too, with up to `local_handoffs`
//   turns in a row. try_lock is one attempt and fails while others queue.
// Cancellation: a std::stop_token ends the wait (errc::cancelled); what was already sent is taken back.
// Thread safety: everything may be called from any thread.
// Lifetimes: a mutex keeps its client's engine alive; holds outlive the mutex object.
class TYER_EXPORT mutex {
 public:
  // Throws invalid_name, invalid_option, unsupported.
  mutex(const client& owner, std::string_view name, lock_options options = {},
        std::source_location where = std::source_location::current());
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex();

  hold acquire(std::source_location where = std::source_location::current());
  hold acquire(std::stop_token stop, std::source_location where = std::source_location::current());
  hold acquire(failure& why, std::stop_token stop = {},
               std::source_location where = std::source_location::current()) noexcept;

  hold try_acquire(std::source_location where = std::source_location::current());
  hold try_acquire(failure& why, std::source_location where = std::source_location::current()) noexcept;

  hold try_acquire_for(std::chrono::nanoseconds at_most, std::stop_token stop = {},
                       std::source_location where = std::source_location::current());
  hold try_acquire_for(failure& why, std::chrono::nanoseconds at_most, std::stop_token stop = {},
                       std::source_location where = std::source_location::current()) noexcept;

  template <class Clock, class Duration>
  hold try_acquire_until(const std::chrono::time_point<Clock, Duration>& limit, std::stop_token stop = {},
                         std::source_location where = std::source_location::current()) {
    return try_acquire_for(detail::to_wait(limit), std::move(stop), where);
  }

  // The standard face. The call site remembered is where the mutex was made: a guard has no place for another.
  void lock();
  bool try_lock();
  void unlock() noexcept;

  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& at_most) {
    return try_lock_within(detail::to_wait(at_most));
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& limit) {
    return try_lock_within(detail::to_wait(limit));
  }

  // The hold taken by lock(): only for the owner, between lock and unlock; otherwise throws errc::not_held.
  const hold& held() const;

  std::string_view name() const noexcept;

 private:
  friend struct detail::access;
  bool try_lock_within(std::chrono::nanoseconds at_most);

  std::shared_ptr<detail::mutex_state> state_;
};

}  // namespace v1
}  // namespace tyer
