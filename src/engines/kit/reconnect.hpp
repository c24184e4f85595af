// When a lost connection is tried again: soon after a short absence, seldom after a long one.
//
// A server that accepts connections and cuts them off must not be asked without end. So an absence is over only when a connection
// has lasted, and until then attempts stay a quarter of the absence apart. The time with a connection counts toward that distance
// and not toward the absence: a hold that was granted meanwhile needs the next connection before its lease ends.
//
// One that refuses us (the login, a right, its tables) does so until somebody mends that, and may lock whoever tries too often: so
// it is asked more seldom still, but never so seldom that whoever has mended it waits for long.
#pragma once

#include "engine/engine.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace tyer::kit {

class reconnect {
 public:
  using duration = std::chrono::nanoseconds;
  using time_point = engine::time_point;
  static constexpr std::chrono::milliseconds pause_least{20}, pause_most{1000}, lasted_least{100}, lasted_most{1000};
  static constexpr std::chrono::milliseconds refused_least{1000}, refused_most{10'000};

  void up(time_point t) noexcept { up_since_ = t; }

  // There is a reason to hope for an answer now: another server, or news of this one.
  void begin_anew(time_point t) noexcept { away_since_ = t; }

  // The connection or an attempt to make one ended at `t`. The longest pause before the next attempt: an outage costs a hold at most
  // a quarter more than it lasts. Callers pause for half of it at least, by chance, so that clients do not come back together.
  duration lost(time_point t) noexcept { return pause(t, 4, pause_least, pause_most); }
  // The same if it has ended because the server refuses us: at most half more than that lasts.
  duration refused(time_point t) noexcept { return pause(t, 2, refused_least, refused_most); }

 private:
  duration pause(time_point t, int part, duration least, duration most) noexcept {
    const duration lasted = up_since_ ? t - *up_since_ : duration{};
    if (!away_since_ || (up_since_ && over(*up_since_ - *away_since_, lasted)))
      away_since_ = t;
    else
      *away_since_ += lasted;
    up_since_.reset();
    const auto apart = std::clamp<duration>((t - *away_since_) / part, least, most);
    return std::max<duration>(apart - lasted, pause_least);
  }

  // Whether a connection that lasted so long ends an absence: after a short one soon, so that resets now and then cost no more than
  // one; after a long one a server that lets us in for a moment does not.
  static constexpr bool over(duration away, duration lasted) noexcept {
    return lasted >= std::clamp<duration>(away, lasted_least, lasted_most);
  }

  std::optional<time_point> away_since_;  // moved on by the connections since that did not last
  std::optional<time_point> up_since_;
};

}  // namespace tyer::kit
