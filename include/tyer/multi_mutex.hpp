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

// The proof that all locks are held. Like a `hold` (see there for the states), with a token for each name.
//
// valid() while every part is valid; valid_until() is the earliest of them; lost() is requested when the first part is lost.
class [[nodiscard]] TYER_EXPORT multi_hold {
 public:
  multi_hold() noexcept;
  multi_hold(multi_hold&&) noexcept;
  multi_hold& operator=(multi_hold&&) noexcept;
  ~multi_hold();

  explicit operator bool() const& noexcept { return state_ != nullptr; }
  // As for a hold: a temporary would be released before the first line of the body.
  explicit operator bool() const&& = delete;  // name the hold: if (tyer::multi_hold h = m.try_acquire())

  // For the lock of this name; throws errc::not_held for any other name. With the same name on several clients, use parts().
  [[nodiscard]] fence_pass fence(std::string_view name) const&;
  fence_pass fence(std::string_view) const&& =
      delete;  // name the hold: here and below, a temporary would be released at once
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
  // Requested when somebody asks for one of the locks (`client::ask`).
  [[nodiscard]] std::stop_token revoked() const&;
  std::stop_token revoked() const&& = delete;

  // As hold::confirm, for all parts at once. True if all stand, false if one is lost; otherwise `why` of the first part whose
  // state is not known.
  [[nodiscard]] bool confirm() const&;
  [[nodiscard]] bool confirm(failure& why) const& noexcept;
  bool confirm() const&& = delete;
  bool confirm(failure&) const&& = delete;

  // Releases all of them at once and waits for the answers. Returns the worst outcome, in the order unknown, already_gone,
  // released.
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
// The locks are taken one after the other in one canonical order (by name, then by engine), the same for everybody, so that
// two callers that want the same locks cannot wait for each other. A name that is given twice is taken once. There is one
// deadline for all. When one lock cannot be had, or an earlier one is lost while a later one is waited for, all that were
// taken are released. After such a loss the call starts again; if no time is left, or the call is a single attempt, it ends
// with errc::lost, since then neither contention nor an outage is known.
//
//   call                    | all free | one is held by others           | engine away
//   ------------------------+----------+---------------------------------+--------------------------------------
//   acquire                 | hold     | waits in that one's queue       | waits `unavailable_after`, then throws
//   try_acquire_for, _until | hold     | waits, then empty               | waits until the limit, then throws
//   try_acquire             | hold     | empty at once                   | throws after `request_timeout`
//
// A limit of zero or less means try_acquire; the longest possible limit means acquire.
//
// The order goes by name first, so that it does not matter how the address of a server is written ("localhost" or
// "127.0.0.1"). Only where the *same* name is taken on several servers do the addresses decide: there everybody must write
// them in the same way, and one server must not be given under two addresses, because the library could not tell that it is
// one lock. A port or a database that is left out, the order of several hosts, and the form of an IPv6 address do not matter.
//
// Thread safety: everything may be called from any thread. The std interface is TimedLockable; held(), and try_lock_for while
// an engine is away, behave as in mutex.
class TYER_EXPORT multi_mutex {
 public:
  // A name on a client. The client must live for as long as the multi_mutex is used.
  struct part {
    part(const client& of, std::string_view called) : on(&of), name(called) {}
    part(const client&&, std::string_view) = delete;
    part(const client&, std::initializer_list<std::string_view>) = delete;  // a part has one name

    const client* on;  // never null
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

  // {{"a", "b"}}, with one brace too many, would be one name: the range from the first pointer to the second.
  multi_mutex(const client&, std::initializer_list<std::initializer_list<std::string_view>>, lock_options = {},
              std::source_location = {}) = delete;
  // A temporary client would be closed at the end of the statement, and the locks with it.
  multi_mutex(const client&&, std::initializer_list<std::string_view>, lock_options = {},
              std::source_location = {}) = delete;
  multi_mutex(const client&&, std::span<const std::string>, lock_options = {}, std::source_location = {}) = delete;
  multi_mutex(const client&&, std::span<const std::string_view>, lock_options = {}, std::source_location = {}) = delete;
  // For containers. Both objects are then the same lock and the same local mutex: the moved-from object keeps working, also
  // for a guard that refers to it. There is no copy: it would look like a second contender.
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
  // The holds taken by lock(). Only for the owner, between lock and unlock: for any other thread they may disappear at any
  // moment. Throws errc::not_held if it is not locked.
  [[nodiscard]] const multi_hold& held() const&;
  const multi_hold& held() const&& = delete;  // they live in the object: name that

  std::size_t size() const noexcept;  // without duplicates

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
