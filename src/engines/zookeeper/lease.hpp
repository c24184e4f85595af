// One session as a lease: what it proves, and until when. A machine: times in.
//
//   live      | from the sending of the greeting that made it, or of the last renewal that was confirmed, for proven_ttl()
//   condemned | then, or when the server says so: for ever, whatever is confirmed later
//
// A renewal is one committed write: an answer to a ping proves nothing, since a server answers it that nobody listens to any more.
// A leader that stood still commits what waits for it, and expires the session right after: so nothing extends what is over.
#pragma once

#include "engine/engine.hpp"

#include <algorithm>

namespace tyer::zookeeper {

using engine::milliseconds;
using engine::time_point;

inline constexpr int touches = 6;  // in the time of a session, at least

// What a confirmed write proves of a session of this length, counted from its sending. The leader may have heard of us last half a
// tick, and what lies between two of our packets, before that; tick 0: not known, at most half the session.
constexpr milliseconds proven_ttl(milliseconds session, milliseconds tick) {
  const auto pause = session / touches;
  const auto unheard = std::max(pause, tick.count() > 0 ? tick / 2 : session / 4);
  return session - pause - unheard - std::max(milliseconds{10}, session / 20);
}

// How long a session must be for holds of this length: a renewal serves all who come within a sixth of it.
constexpr milliseconds session_for(milliseconds ttl) { return std::max<milliseconds>(milliseconds{2000}, ttl * 9 / 4); }

class lease {
 public:
  void made(time_point sent, milliseconds session, milliseconds tick) {
    kept_ = sent;
    measure(session, tick);
    over_ = false;
  }
  void measure(milliseconds session, milliseconds tick) {
    ttl_ = proven_ttl(session, tick);
    pause_ = session / touches;
  }
  // Nothing else had left for so long before it: what is longer than a pause should be, the leader may not have heard of us.
  void renewed(time_point sent, time_point::duration quiet, time_point now) {
    const auto too_quiet = std::max(time_point::duration{}, quiet - pause_);
    if (live(now)) kept_ = std::max(kept_, sent - too_quiet);
  }
  void condemn() { over_ = true; }

  // Once it is over it stays so.
  bool live(time_point now) {
    over_ = over_ || now >= end();
    return !over_;
  }
  bool over() const noexcept { return over_; }
  time_point end() const noexcept { return kept_ + ttl_; }
  time_point kept() const noexcept { return kept_; }
  milliseconds ttl() const noexcept { return ttl_; }

 private:
  time_point kept_{};
  milliseconds ttl_{}, pause_{};
  bool over_ = true;
};

}  // namespace tyer::zookeeper
