// A mutex that its own thread may lock again.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/acquirable.hpp>
#include <tyer/client.hpp>
#include <tyer/options.hpp>

#include <chrono>
#include <cstdint>
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
// There is one hold, that of the lock() which acquired: with the options of that object, whatever those of the others say. It
// goes back with the last unlock(), in whatever order. Another client, and a `mutex` of the same name, are other contenders, also on
// the same thread, and a thread that waits for them inside waits for itself.
//
// An object that is destroyed while it is locked has been unlocked as often as it was locked. A thread that ends inside leaves
// the name locked until then; no later thread is taken for it.
//
// Thread safety: everything may be called from any thread; unlock() only by the owner, and only on an object that was locked:
// otherwise nothing happens.
class TYER_EXPORT recursive_mutex {
 public:
  recursive_mutex(const client& owner, std::string_view name, lock_options options = lock_options(),
                  std::source_location where = std::source_location::current());
  // A temporary client would be closed at the end of the statement, and the lock with it.
  recursive_mutex(const client&&, std::string_view, lock_options = {}, std::source_location = {}) = delete;
  // For containers. Both are then the same object, so that what was moved from goes on as before, also for a guard that has it.
  // There are no copies: make another object of the name.
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

  // The hold that this thread has of the name, whichever object it has locked; otherwise throws errc::not_held.
  [[nodiscard]] const hold& held() const&;
  const hold& held() const&& = delete;  // it lives in the object: name that
  // How often this thread has locked the name, by all objects together.
  std::uint32_t depth() const noexcept;

  [[nodiscard]] std::string_view name() const& noexcept;
  std::string_view name() const&& = delete;

 private:
  bool try_lock_within(std::chrono::nanoseconds at_most);

  std::shared_ptr<detail::recursive_face> face_;
};

}  // namespace v1
}  // namespace tyer
