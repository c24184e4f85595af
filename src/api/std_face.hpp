// The local mutex behind the standard face of a lock object.
//
// Closed from lock() to unlock(), even if the hold is lost meanwhile: nobody unlocks somebody else's hold. It is passed
// *after* the lock was acquired, so callers queue where hand-off sees them, and not here; only a try passes it first, to say
// no without a round trip.
#pragma once

#include "api/acquiring.hpp"
#include "primitives/gate.hpp"

#include <chrono>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

template <class Hold>
class basic_face {
 public:
  template <class Lock>
  void lock(const Lock& s) {
    Hold h = acquire_or_throw(s, primitives::patience::for_ever(), {}, s.made_at);
    gate_.acquire();
    held_ = std::move(h);
  }

  template <class Lock>
  bool try_lock(const Lock& s) {
    if (!gate_.try_acquire()) return false;
    failure why;
    Hold h = acquire_or_tell(s, primitives::patience::once(), {}, s.made_at, why);
    if (!h) {
      gate_.release();
      if (why) throw error(why);
      return false;
    }
    held_ = std::move(h);
    return true;
  }

  template <class Lock>
  bool try_lock_within(const Lock& s, std::chrono::nanoseconds at_most) {
    using clock = std::chrono::steady_clock;
    const auto now = clock::now();
    const auto limit = at_most < clock::time_point::max() - now ? now + at_most : clock::time_point::max();
    Hold h = acquire_or_throw(s, primitives::patience::within(at_most), {}, s.made_at);
    if (!h || !gate_.try_acquire_until(limit)) return false;
    held_ = std::move(h);
    return true;
  }

  void unlock() noexcept {
    Hold mine = std::move(held_);  // given back at the end, when the gate is open for whom it goes to
    gate_.release();
  }

  const Hold& held() const {
    if (!held_) throw error(errc::not_held);
    return held_;
  }

 private:
  primitives::gate gate_;
  Hold held_;  // the owner's, between lock and unlock
};

class std_face : public basic_face<hold> {};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
