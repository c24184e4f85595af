// One writer or many readers.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/acquirable.hpp>
#include <tyer/client.hpp>
#include <tyer/options.hpp>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <stop_token>
#include <string_view>

namespace tyer {
inline namespace v1 {

namespace detail {
class shared_face;
}  // namespace detail

// Held by one alone (exclusive) or by many beside each other (shared).
//
//   wants \ held     | by nobody | shared                             | exclusive
//   -----------------+-----------+------------------------------------+-----------
//   acquire          | granted   | waits                              | waits
//   shared().acquire | granted   | granted, unless a writer waits     | waits
//   upgrade          | –         | at once if it is the only reader;  | –
//                    |           | else before all who queue          |
//
// First come, first served over both modes: a writer that waits stops readers that come later.
//
// upgrade() turns a shared hold into an exclusive one without releasing it. It goes before the queue, since those in it wait
// for its shared hold. If two readers upgraded they would wait for each other: the second gets `false` at once and keeps its
// shared hold; it should give it back. After an upgrade or a downgrade token() is a new, larger one.
//
// The std interface (SharedTimedLockable: std::unique_lock, std::shared_lock, ...) makes the object a local shared mutex as
// well. held() is the exclusive hold; a reader that needs its hold uses shared().acquire(). lock() and lock_shared() by the thread
// that has it locked alone: errc::would_deadlock. Readers are not told apart: one that calls lock() waits for itself.
//
// Thread safety: as mutex.
class TYER_EXPORT shared_mutex : public acquirable {
 public:
  // Throws invalid_name, invalid_option, unsupported.
  shared_mutex(const client& owner, std::string_view name, lock_options options = lock_options(),
               std::source_location where = std::source_location::current());
  // A temporary client would be closed at the end of the statement, and the lock with it.
  shared_mutex(const client&&, std::string_view, lock_options = {}, std::source_location = {}) = delete;
  // {"a", "b"} would be one name: the range from the first pointer to the second. Several names: multi_mutex.
  shared_mutex(const client&, std::initializer_list<std::string_view>, lock_options = {},
               std::source_location = {}) = delete;
  // For containers. Both objects are then the same lock and the same local mutex: the moved-from object keeps working, also
  // for a guard that refers to it. There is no copy: it would look like a second contender.
  shared_mutex(shared_mutex&& other) noexcept : acquirable(other), shared_(other.shared_), face_(other.face_) {}
  shared_mutex& operator=(shared_mutex&& other) noexcept {
    acquirable::operator=(other);
    shared_ = other.shared_;
    face_ = other.face_;
    return *this;
  }

  // The readers' side: acquire() and its variants give shared holds.
  [[nodiscard]] const acquirable& shared() const& noexcept { return shared_; }
  [[nodiscard]] acquirable shared() const&& noexcept { return shared_; }  // a copy is the same lock

  // True if the hold, shared before, is exclusive now. False: another reader is upgrading, or (with a limit) others still
  // read; the hold stays shared. Throws errc::lost if the hold is over, errc::cancelled when stopped, and errc::unavailable
  // if the limit passes while the engine is silent. A limit of zero or less means try_upgrade.
  [[nodiscard]] bool upgrade(hold& h, std::stop_token stop = {}) const;
  [[nodiscard]] bool upgrade(failure& why, hold& h, std::stop_token stop = {}) const noexcept;
  [[nodiscard]] bool try_upgrade(hold& h) const;
  [[nodiscard]] bool try_upgrade(failure& why, hold& h) const noexcept;
  template <class Rep, class Period>
  [[nodiscard]] bool try_upgrade_for(hold& h, const std::chrono::duration<Rep, Period>& at_most,
                                     std::stop_token stop = {}) const {
    return upgrade_within(h, detail::to_wait(at_most), std::move(stop));
  }
  template <class Rep, class Period>
  [[nodiscard]] bool try_upgrade_for(failure& why, hold& h, const std::chrono::duration<Rep, Period>& at_most,
                                     std::stop_token stop = {}) const noexcept {
    return upgrade_within(why, h, detail::to_wait(at_most), std::move(stop));
  }

  template <class Clock, class Duration>
  [[nodiscard]] bool try_upgrade_until(hold& h, const std::chrono::time_point<Clock, Duration>& limit,
                                       std::stop_token stop = {}) const {
    return upgrade_within(h, detail::to_wait(limit), std::move(stop));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_upgrade_until(failure& why, hold& h, const std::chrono::time_point<Clock, Duration>& limit,
                                       std::stop_token stop = {}) const noexcept {
    return upgrade_within(why, h, detail::to_wait(limit), std::move(stop));
  }

  // The hold, exclusive before, is shared when this returns; readers at the head of the queue come in. Throws errc::lost.
  void downgrade(hold& h) const;
  void downgrade(failure& why, hold& h) const noexcept;

  // The std interface.
  void lock();
  [[nodiscard]] bool try_lock();
  void unlock() noexcept;
  void lock_shared();
  [[nodiscard]] bool try_lock_shared();
  void unlock_shared() noexcept;

  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& at_most) {
    return try_lock_within(detail::to_wait(at_most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& limit) {
    return try_lock_within(detail::to_wait(limit));
  }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& at_most) {
    return try_lock_shared_within(detail::to_wait(at_most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& limit) {
    return try_lock_shared_within(detail::to_wait(limit));
  }

  // The hold taken by lock(). Only for the owner, between lock and unlock: for any other thread it may disappear at any
  // moment. Throws errc::not_held if it is not locked.
  [[nodiscard]] const hold& held() const&;
  const hold& held() const&& = delete;  // it lives in the object: name that

 private:
  bool upgrade_within(hold& h, std::chrono::nanoseconds at_most, std::stop_token stop) const;
  bool upgrade_within(failure& why, hold& h, std::chrono::nanoseconds at_most, std::stop_token stop) const noexcept;
  bool try_lock_within(std::chrono::nanoseconds at_most);
  bool try_lock_shared_within(std::chrono::nanoseconds at_most);

  acquirable shared_;
  std::shared_ptr<detail::shared_face> face_;
};

}  // namespace v1
}  // namespace tyer
