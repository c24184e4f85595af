// What a client notes about its callers, if its options ask for that: which thread has which lock, and in which order locks
// are taken. A hold counts for the thread that has acquired it.
//
// Thread safety: everything may be called from any thread.
#pragma once

#include "lease/terms.hpp"
#include "runtime/fork.hpp"
#include "runtime/hold_state.hpp"
#include "runtime/order_book.hpp"
#include "runtime/spec.hpp"

#include <tyer/error.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>

namespace tyer::runtime {

class noting;

// A hold that is noted: it ends with the hold.
class note {
 public:
  note(std::shared_ptr<noting> in, detail::hold_state& of, const std::source_location& where);
  note(const note&) = delete;
  note& operator=(const note&) = delete;
  ~note();

 private:
  friend class noting;
  const birth born_;
  const std::shared_ptr<noting> in_;
  const detail::hold_state* of_;  // protected by the mutex of noting
  const std::uint64_t thread_;
  const std::source_location where_;
  detail::order_book::place place_ = 0;
  std::multimap<std::string, note*, std::less<>>::iterator at_;  // if own waits are refused
};

class noting {
 public:
  noting(bool refuse_own_wait, std::shared_ptr<detail::order_book> order) noexcept
      : refuses_(refuse_own_wait), order_(std::move(order)) {}

  // errc::would_deadlock if this thread would wait for itself.
  tyer::failure own_wait(const spec& what, const std::source_location& where, lease::time_point now) const;
  // Before this thread waits for a lock: the same, and the order is noted.
  tyer::failure asks(const spec& what, const std::source_location& where, lease::time_point now);
  // This thread has the hold. When memory is exhausted, it is not noted.
  static void took(const std::shared_ptr<noting>& in, detail::hold_state& h,
                   const std::source_location& where) noexcept;

  bool refuses() const noexcept { return refuses_; }

  // True if it is noted that this thread has acquired it.
  static bool is_own(const detail::hold_state& h) noexcept;
  // Two threads have exchanged their holds.
  static void exchange(detail::hold_state& a, detail::hold_state& b) noexcept;

 private:
  friend class note;
  const note* in_the_way(const spec& what, lease::time_point now) const;

  const bool refuses_;
  const std::shared_ptr<detail::order_book> order_;  // may be null
  mutable std::mutex mutex_;
  std::multimap<std::string, note*, std::less<>> own_;  // by name, if own waits are refused
};

}  // namespace tyer::runtime
