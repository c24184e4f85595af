// Several locks at once: all or none.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/acquirable.hpp>
#include <tyer/client.hpp>
#include <tyer/hold.hpp>
#include <tyer/options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace tyer {
inline namespace v1 {

namespace detail {
class multi_state;
class multi_face;
class multi_hold_state;
struct multi_maker;
}  // namespace detail

// The proof that all of them are held. As a `hold` (see there for the states), with a token for each name.
//
// valid() while every one of them is; valid_until() is the earliest; lost() is requested when the first of them is lost.
class [[nodiscard]] TYER_EXPORT multi_hold {
 public:
  multi_hold() noexcept;
  multi_hold(multi_hold&&) noexcept;
  multi_hold& operator=(multi_hold&&) noexcept;
  ~multi_hold();

  explicit operator bool() const& noexcept { return state_ != nullptr; }
  // As of a hold: without a name it would be given back before the first line of the body.
  explicit operator bool() const&& = delete;  // name the hold: if (tyer::multi_hold h = m.try_acquire())

  // Of the lock of this name; throws errc::not_held for a name that is not among them. With the same name on several
  // clients, look at parts().
  [[nodiscard]] fence_pass fence(std::string_view name) const&;
  fence_pass fence(std::string_view) const&& =
      delete;  // name the hold: here and below, without a name it would be given back at once
  [[nodiscard]] std::uint64_t token(std::string_view name) const&;
  std::uint64_t token(std::string_view) const&& = delete;
  // One for each lock, in the canonical order. They live in the multi_hold.
  [[nodiscard]] std::span<const hold> parts() const& noexcept;
  std::span<const hold> parts() const&& = delete;  // name the hold: for (const tyer::hold& h : all.parts())

  [[nodiscard]] bool valid() const noexcept;
  [[nodiscard]] lease_clock::time_point valid_until() const noexcept;
  [[nodiscard]] lease_clock::duration remaining() const noexcept;
  [[nodiscard]] std::stop_token lost() const& noexcept;
  std::stop_token lost() const&& = delete;

  // As hold::confirm: asks about all of them at once. True if all of them stood, false if one is lost, and else `why` of the first
  // of which nobody knows.
  [[nodiscard]] bool confirm() const&;
  [[nodiscard]] bool confirm(failure& why) const& noexcept;
  bool confirm() const&& = delete;
  bool confirm(failure&) const&& = delete;

  // Gives all of them back at once and waits for the answers. The worst outcome of all: unknown, already_gone, released.
  release_outcome release();
  release_outcome release(failure& why) noexcept;

 private:
  friend struct detail::multi_maker;
  explicit multi_hold(std::unique_ptr<detail::multi_hold_state> s) noexcept;

  std::unique_ptr<detail::multi_hold_state> state_;
};

// Any names, even on different clients, acquired as if they were one lock.
//
//   tyer::multi_mutex both{client, {"account/1", "account/2"}};
//   tyer::multi_hold h = both.acquire();
//
// They are taken one after the other in one canonical order (by name, then by engine), the same for everybody, so that two
// who want the same locks cannot wait for each other. A name that is given twice is taken once. There is one deadline for
// all. When one cannot be had, or an earlier one is lost while a later one is waited for, all that were taken are given back
// (and in the second case it begins anew; if no time is left for that, or it was one attempt, it ends with errc::lost: neither
// that others have it nor that an engine is away is known then).
//
//   call                    | all free | one is held by others           | engine away
//   ------------------------+----------+---------------------------------+--------------------------------------
//   acquire                 | hold     | waits in that one's queue       | waits `unavailable_after`, then throws
//   try_acquire_for, _until | hold     | waits, then empty               | waits until the limit, then throws
//   try_acquire             | hold     | empty at once                   | throws after `request_timeout`
//
// A limit that is not above zero is try_acquire; the longest one there is, acquire.
//
// Names come first, so that it does not matter how the address of a server is written ("localhost" or "127.0.0.1"). Only
// where the *same* name is taken on several servers the addresses decide: there everybody must write them in the same way,
// and one server must not be given under two of them, because nobody could tell that it is one lock.
//
// Thread safety: everything may be called from any thread. The standard face is TimedLockable; held(), and an
// engine that is away from try_lock_for, as in mutex.
class TYER_EXPORT multi_mutex {
 public:
  // A name on a client, which must live until the multi_mutex is made (and be kept for as long as it is used).
  struct part {
    part(const client& of, std::string_view called) : on(&of), name(called) {}
    part(const client&&, std::string_view) = delete;

    const client* on;
    std::string name;
  };

  // Names on one client, as a list, or as a vector, array or span of strings or of views. Throws invalid_name, invalid_option
  // (also without any name), unsupported.
  multi_mutex(const client& owner, std::initializer_list<std::string_view> names, lock_options options = lock_options(),
              std::source_location where = std::source_location::current());
  multi_mutex(const client& owner, std::span<const std::string> names, lock_options options = lock_options(),
              std::source_location where = std::source_location::current());
  multi_mutex(const client& owner, std::span<const std::string_view> names, lock_options options = lock_options(),
              std::source_location where = std::source_location::current());
  // Names on different clients.
  explicit multi_mutex(std::initializer_list<part> parts, lock_options options = lock_options(),
                       std::source_location where = std::source_location::current());
  explicit multi_mutex(std::span<const part> parts, lock_options options = lock_options(),
                       std::source_location where = std::source_location::current());

  // {{"a", "b"}}, with a brace too many, would be one name, from the first pointer to the second.
  multi_mutex(const client&, std::initializer_list<std::initializer_list<std::string_view>>, lock_options = {},
              std::source_location = {}) = delete;
  // A temporary client would be closed at the end of the statement, and the locks with it.
  multi_mutex(const client&&, std::initializer_list<std::string_view>, lock_options = {},
              std::source_location = {}) = delete;
  multi_mutex(const client&&, std::span<const std::string>, lock_options = {}, std::source_location = {}) = delete;
  multi_mutex(const client&&, std::span<const std::string_view>, lock_options = {}, std::source_location = {}) = delete;
  // For containers. Both are then the same lock and the same local mutex, so that what was moved from goes on as before, also for
  // a guard that has it. There are no copies, which would look like a second contender.
  multi_mutex(multi_mutex&& other) noexcept : state_(other.state_), face_(other.face_) {}
  multi_mutex& operator=(multi_mutex&& other) noexcept {
    state_ = other.state_;
    face_ = other.face_;
    return *this;
  }

  multi_hold acquire(std::stop_token stop = {}, std::source_location where = std::source_location::current()) const;
  multi_hold acquire(failure& why, std::stop_token stop = {},
                     std::source_location where = std::source_location::current()) const noexcept;
  multi_hold try_acquire(std::source_location where = std::source_location::current()) const;
  multi_hold try_acquire(failure& why, std::source_location where = std::source_location::current()) const noexcept;
  template <class Rep, class Period>
  multi_hold try_acquire_for(const std::chrono::duration<Rep, Period>& at_most, std::stop_token stop = {},
                             std::source_location where = std::source_location::current()) const {
    return acquire_within(detail::to_wait(at_most), std::move(stop), where);
  }
  template <class Rep, class Period>
  multi_hold try_acquire_for(failure& why, const std::chrono::duration<Rep, Period>& at_most, std::stop_token stop = {},
                             std::source_location where = std::source_location::current()) const noexcept {
    return acquire_within(why, detail::to_wait(at_most), std::move(stop), where);
  }

  template <class Clock, class Duration>
  multi_hold try_acquire_until(const std::chrono::time_point<Clock, Duration>& limit, std::stop_token stop = {},
                               std::source_location where = std::source_location::current()) const {
    return acquire_within(detail::to_wait(limit), std::move(stop), where);
  }
  template <class Clock, class Duration>
  multi_hold try_acquire_until(failure& why, const std::chrono::time_point<Clock, Duration>& limit,
                               std::stop_token stop = {},
                               std::source_location where = std::source_location::current()) const noexcept {
    return acquire_within(why, detail::to_wait(limit), std::move(stop), where);
  }

  void lock();
  [[nodiscard]] bool try_lock();
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& at_most) {
    return try_lock_within(detail::to_wait(at_most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& limit) {
    return try_lock_within(detail::to_wait(limit));
  }
  void unlock() noexcept;
  // The holds taken by lock(). For the owner alone, between lock and unlock: whoever else looks may see them go. Throws
  // errc::not_held if it is not locked.
  [[nodiscard]] const multi_hold& held() const&;
  const multi_hold& held() const&& = delete;  // they live in the object: name that

  std::size_t size() const noexcept;  // without those that were given twice

 private:
  friend struct detail::multi_maker;
  bool try_lock_within(std::chrono::nanoseconds at_most);
  multi_hold acquire_within(std::chrono::nanoseconds at_most, std::stop_token stop, std::source_location where) const;
  multi_hold acquire_within(failure& why, std::chrono::nanoseconds at_most, std::stop_token stop,
                            std::source_location where) const noexcept;

  std::shared_ptr<const detail::multi_state> state_;
  std::shared_ptr<detail::multi_face> face_;
};

}  // namespace v1
}  // namespace tyer
