// A distributed mutex with the names and the shape of the standard one.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/acquirable.hpp>
#include <tyer/client.hpp>
#include <tyer/options.hpp>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string_view>

namespace tyer {
inline namespace v1 {

namespace detail {
class std_face;
}  // namespace detail

// Mutual exclusion by name, across processes and machines.
//
// One lock with two interfaces:
//  - acquire() and its variants (<tyer/acquirable.hpp>) give a `hold`, the full answer: token, deadline, loss.
//  - lock(), try_lock(), unlock() ... make it TimedLockable, for std::scoped_lock, std::unique_lock and the rest. The
//    object is then also a local mutex: until unlock(), another lock() on the same object waits, even if the hold was
//    lost meanwhile, and takes nothing from others while it does; what it returns with is valid. A thread that has locked it
//    and calls lock() again would wait for itself: errc::would_deadlock, also if its guard was moved to another thread since
//    (try_lock_for() waits until its limit). held() is the hold, for the owner, between lock and unlock.
//
//   call                   | free   | somebody has it                | engine away
//   -----------------------+--------+--------------------------------+--------------------------------------
//   lock                   | locks  | waits in the queue             | waits `unavailable_after`, then throws
//   try_lock_for, _until   | true   | waits in the queue, then false | false at the limit: as std::timed_mutex
//   try_lock               | true   | false at once                  | throws after `request_timeout`
//
// A limit of zero or less means one attempt, as try_lock; but then too an engine that is away gives `false`.
//
// Thread safety: everything may be called from any thread, but a move only while nobody else uses the object.
class TYER_EXPORT mutex : public acquirable {
 public:
  // Throws invalid_name, invalid_option, unsupported.
  mutex(const client& owner, std::string_view name, lock_options options = lock_options(),
        std::source_location where = std::source_location::current());
  // A temporary client would be closed at the end of the statement, and the lock with it.
  mutex(const client&&, std::string_view, lock_options = {}, std::source_location = {}) = delete;
  // {"a", "b"} would be one name: the range from the first pointer to the second. Several names: multi_mutex.
  mutex(const client&, std::initializer_list<std::string_view>, lock_options = {}, std::source_location = {}) = delete;
  // For containers. Both objects are then the same lock and the same local mutex: the moved-from object keeps working, also
  // for a guard that refers to it. There is no copy: it would look like a second contender.
  mutex(mutex&& other) noexcept : acquirable(other), face_(other.face_) {}
  mutex& operator=(mutex&& other) noexcept {
    acquirable::operator=(other);
    face_ = other.face_;
    return *this;
  }

  // The std interface. The recorded call site is where the mutex was made, since a guard cannot pass another.
  void lock();
  [[nodiscard]] bool try_lock();
  void unlock() noexcept;

  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& at_most) {
    return try_lock_within(detail::to_wait(at_most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& limit) {
    return try_lock_within(detail::to_wait(limit));
  }

  // The hold taken by lock(). Only for the owner, between lock and unlock: for any other thread it may disappear at any
  // moment. Throws errc::not_held if it is not locked.
  [[nodiscard]] const hold& held() const&;
  const hold& held() const&& = delete;  // it lives in the object: name that

 private:
  bool try_lock_within(std::chrono::nanoseconds at_most);

  std::shared_ptr<detail::std_face> face_;
};

}  // namespace v1
}  // namespace tyer
