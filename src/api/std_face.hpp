// The local mutex (the gate) behind the std interface of a lock object.
//
// The gate is closed from lock() to unlock(), even if the hold is lost meanwhile: nobody unlocks somebody else's hold.
// Callers queue for the lock itself, where hand-off sees them, and not at the gate: unlock() opens the gate before it
// releases the lock, so the next owner finds the gate open. If the gate is closed, its owner has lost the hold and not yet
// called unlock(). Then the caller releases the lock at once, unused, so that others may have it, waits at the gate without
// a hold, and afterwards starts again. So lock() never returns with a hold that has aged at the gate.
#pragma once

#include "api/acquiring.hpp"
#include "core/site.hpp"
#include "core/thread_number.hpp"
#include "primitives/gate.hpp"
#include "primitives/sleepers.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <source_location>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

inline const runtime::client_runtime& home_of(const lock_state& s) { return *s.home; }

inline void give_back_unused(hold h) {
  if (const auto& s = access::state(h)) s->never_used();
}

// A caller's deadline, on the clock of the lock's client.
class deadline {
 public:
  deadline(const runtime::client_runtime& h, const primitives::patience& p)
      : home_(h), whole_(p), end_(limit_of(h, p)) {}

  // Nothing is left to wait for: the time is over, or the client cannot be used any more.
  bool gives_up() const { return over() || primitives::unusable(home_, true); }
  bool over() const { return end_ != lease::time_point::max() && home_.time().now() >= end_; }
  // Never a single attempt, which would wait longer for a silent engine.
  primitives::patience left() const {
    if (end_ == lease::time_point::max()) return whole_;
    return {true, std::max<lease::duration>(end_ - home_.time().now(), lease::duration{1})};
  }
  // For a thread that sleeps at a gate: it checks now and then whether the client still exists. A clock that is moved by
  // hand does not wake it, so with such a clock it checks more often.
  std::chrono::steady_clock::time_point look_again() const {
    constexpr lease::duration slice = std::chrono::milliseconds{100}, short_slice = std::chrono::milliseconds{10};
    const auto now = std::chrono::steady_clock::now();
    if (!home_.time().flows()) return now + short_slice;
    return now + (end_ == lease::time_point::max() ? slice : std::min(slice, end_ - home_.time().now()));
  }
  lease::time_point end() const noexcept { return end_; }
  const core::clock& time() const noexcept { return home_.time(); }

 private:
  const runtime::client_runtime& home_;
  primitives::patience whole_;
  lease::time_point end_;
};

// An Entrance admits a hold (try_enter) or waits until another attempt may succeed, or the deadline gives up
// (wait_for_opening).
template <class Hold, class Lock, class Entrance>
bool acquire_and_enter(const Lock& s, const primitives::patience& p, Entrance&& entrance) {
  const deadline limit{home_of(s), p};
  for (auto left = p;; left = limit.left()) {
    Hold h = acquire_or_throw(s, left, {}, s.made_at);
    if (!h) return false;
    if (h.valid() && entrance.try_enter(h)) return true;
    give_back_unused(std::move(h));
    if (!p.waits) return false;
    entrance.wait_for_opening(limit);
    if (limit.over()) return false;
  }
}

// Only here an outage gives `false`: std::timed_mutex has no other answer, and a guard cannot report an error.
template <class TimedTry>
bool or_not_in_time(TimedTry timed_try) {
  try {
    return timed_try();
  } catch (const error& e) {
    if (e.code() != errc::unavailable) throw;
    return false;
  }
}

inline void refuse_the_unusable(const runtime::client_runtime& home) {
  if (auto f = primitives::unusable(home, true)) throw error(f);
}

// By the client's options: also with a limit, and also if the hold has ended but its owner has not let go of the object.
inline bool refuses_own_wait(const runtime::client_runtime& home) noexcept {
  return home.notes() && home.notes()->refuses();
}

// A guard cannot pass its call site, so there is one for both: where the lock object was made.
[[noreturn]] inline void refuse_to_wait_for_itself(const std::source_location& made_at) {
  throw error({errc::would_deadlock, "this thread has locked it already, through the object made at " +
                                         core::site_of(made_at) + "; a tyer::recursive_mutex can be locked again"});
}

template <class Hold>
class basic_face {
 public:
  explicit basic_face(const runtime::client_runtime& h) noexcept : by_hand_(!h.time().flows()) {}

  template <class Lock>
  void lock(const Lock& s) {
    refuse_the_unusable(home_of(s));
    refuse_the_owner(s.made_at);
    lock_of_others(s);
  }
  // For a caller that knows that this thread is not the owner.
  template <class Lock>
  void lock_of_others(const Lock& s) {
    acquire_and_enter<Hold>(s, primitives::patience::for_ever(), entrance{*this});
  }

  // Tries the gate first, which can refuse without a round trip.
  template <class Lock>
  bool try_lock(const Lock& s) {
    if (forked()) throw error(errc::forked);
    if (!gate_.try_close()) return false;
    failure why;
    Hold h = acquire_or_tell(s, primitives::patience::once(), {}, s.made_at, why);
    if (h.valid()) {
      enter(std::move(h));
      return true;
    }
    open();
    if (why) throw error(why);
    return false;
  }

  template <class Lock>
  bool try_lock_within(const Lock& s, std::chrono::nanoseconds at_most) {
    const auto p = primitives::patience::within(at_most);
    if (p.waits && refuses_own_wait(home_of(s))) refuse_the_owner(s.made_at);
    return or_not_in_time([&] { return p.waits ? acquire_and_enter<Hold>(s, p, entrance{*this}) : try_lock(s); });
  }

  // In a forked child nothing is released, and nobody waits.
  void unlock() noexcept {
    if (forked()) return;
    Hold mine = std::move(held_);  // released at the end, when the gate is open for the next owner
    inside_.store(nobody, std::memory_order_relaxed);
    open();
  }

  const Hold& held() const {
    if (forked()) throw error(errc::forked);
    if (!held_) throw error(errc::not_held);
    return held_;
  }

  bool forked() const noexcept { return birth_.forked(); }

 protected:
  void refuse_the_owner(const std::source_location& made_at) const {
    if (!forked() && inside_.load(std::memory_order_relaxed) == core::this_thread()) refuse_to_wait_for_itself(made_at);
  }
  void enter(Hold h) noexcept {
    held_ = std::move(h);
    inside_.store(core::this_thread(), std::memory_order_relaxed);
  }

  // Once the gate is open, the next owner may destroy this object: with a real clock no member is used after that.
  void open() noexcept {
    const bool by_hand = by_hand_;
    if (gate_.open() && by_hand) sleepers_.wake_all();
  }
  // It sleeps in one place: each look at the client would else count as a thread that is awake, and time that is moved by
  // hand would stand still on a busy machine.
  void wait_for_opening(const deadline& limit) {
    const auto openings = gate_.openings();  // before there is a place: one that was woken cannot sleep again
    primitives::sleepers::place mine{sleepers_, limit.time()};
    const auto asleep = [&] { mine.sleeps(limit.end()); };
    while (!gate_.wait_for_opening(openings, limit.look_again(), asleep) && !limit.gives_up()) continue;
  }

  primitives::gate gate_;
  Hold held_;  // the owner's, between lock and unlock

 private:
  struct entrance {
    basic_face& face;

    bool try_enter(Hold& h) {
      if (!face.gate_.try_close()) return false;
      face.enter(std::move(h));
      return true;
    }
    void wait_for_opening(const deadline& limit) { face.wait_for_opening(limit); }
  };

  const runtime::birth birth_;
  static constexpr std::uint64_t nobody = 0;
  std::atomic<std::uint64_t> inside_ = nobody;  // a thread that reads its own number here knows that it is the owner
  const bool by_hand_;                          // the clock must know which threads sleep
  primitives::sleepers sleepers_;
};

class std_face : public basic_face<hold> {
 public:
  using basic_face::basic_face;
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
