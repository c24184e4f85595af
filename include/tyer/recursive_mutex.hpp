// A mutex that its own thread may lock again.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/acquirable.hpp>
#include <tyer/client.hpp>
#include <tyer/options.hpp>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string_view>

namespace tyer {
inline namespace v1 {

namespace detail {
class recursive_face;
}  // namespace detail

// The only primitive that knows threads. It counts per client, name and thread, whatever the object: a function that locks may
// call another that locks the same name with an object of its own. The first lock() of a thread acquires; every further one
// counts, costs no round trip, and succeeds only while the hold is valid: on a lost hold it throws errc::lost (try_lock too)
// instead of pretending.
//
//   state of the name        | lock() by its owner         | lock() by another thread | unlock() by its owner
//   -------------------------+-----------------------------+--------------------------+-----------------------------
//   free                     | –                           | acquires                 | –
//   locked n times, valid    | n+1, no round trip          | waits                    | n-1; at 0 gives it back
//   locked n times, lost     | throws errc::lost           | waits                    | n-1; at 0 it is free again
//
// There is one hold, from the lock() that acquired, with the options of that object; the options of the other objects do not
// count. It is released with the last unlock(), in any order. Another client, and a `mutex` of the same name, are other
// contenders, also on the same thread: a thread that waits for one of them while it holds the lock waits for itself.
//
// Destroying a locked object unlocks it as often as it was locked. If a thread ends while it holds the lock, the name stays
// locked until then; a later thread is never mistaken for it.
//
// Thread safety: everything may be called from any thread; unlock() only by the owner, and only on an object that was locked:
// otherwise nothing happens.
class TYER_EXPORT recursive_mutex {
 public:
  recursive_mutex(const client& owner, std::string_view name, lock_options options = lock_options(),
                  std::source_location where = std::source_location::current());
  // A temporary client would be closed at the end of the statement, and the lock with it.
  recursive_mutex(const client&&, std::string_view, lock_options = {}, std::source_location = {}) = delete;
  // {"a", "b"} would be one name: the range from the first pointer to the second. Several names: multi_mutex.
  recursive_mutex(const client&, std::initializer_list<std::string_view>, lock_options = {},
                  std::source_location = {}) = delete;
  // For containers. Both are then the same object: the moved-from one keeps working, also for a guard that refers to it.
  // There is no copy: make another object of the name.
  recursive_mutex(recursive_mutex&& other) noexcept : face_(other.face_) {}
  recursive_mutex& operator=(recursive_mutex&& other) noexcept {
    face_ = other.face_;
    return *this;
  }

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

  // This thread's hold of the name, whichever object it was locked through; throws errc::not_held if there is none.
  [[nodiscard]] const hold& held() const&;
  const hold& held() const&& = delete;  // it lives in the object: name that
  // How often this thread has locked the name, through all objects together.
  std::uint32_t depth() const noexcept;

  [[nodiscard]] std::string_view name() const& noexcept;
  std::string_view name() const&& = delete;

 private:
  bool try_lock_within(std::chrono::nanoseconds at_most);

  std::shared_ptr<detail::recursive_face> face_;
};

}  // namespace v1
}  // namespace tyer
