// One session as a lease: what it proves, and until when. A machine: times in.
//
//   live      | from the sending of the greeting that made it, or of the last renewal that was confirmed, for proven_ttl()
//   condemned | then, or when the server says so: for ever, whatever is confirmed later
//
// A renewal is one committed write: an answer to a ping proves nothing, since a server answers it that nobody listens to any more.
// A leader that stood still commits what waits for it, and expires the session right after: so nothing extends what is over.
//
// A leader knows of a session what the session's server had read when it was last asked, half a tick before at most: a write that
// goes by proves that it lives, and says nothing else about it. So a renewal proves a session's length, counted from the last packet
// of which it is certain that the server had read it half a tick before. One that stood still and goes on asks at once: that, and no
// more, is to come before the margin has passed.
//
// Whenever a session comes to a server, that says how long it is, by its own limits; but a new leader goes by what was written down
// when the session was made. So it is never taken for longer than that, and one that is made shorter may end before what was told of
// it: it is over.
#pragma once

#include "engine/engine.hpp"

#include <algorithm>

namespace tyer::zookeeper {

using engine::milliseconds;
using engine::time_point;

inline constexpr int touches = 6;  // in the time of a session, at least

// The leader may not have heard of what came in the last half of a tick; tick 0: not known, at most half the session.
constexpr milliseconds unheard_of(milliseconds session, milliseconds tick) {
  return std::max(session / touches, tick.count() > 0 ? tick / 2 : session / 4);
}
// What a confirmed write proves of a session of this length, counted from its sending, if the packet before came in time.
constexpr milliseconds proven_ttl(milliseconds session, milliseconds tick) {
  return session - session / touches - unheard_of(session, tick) - std::max(milliseconds{10}, session / 20);
}

// How long a session must be for holds of this length: a renewal serves all who come within a sixth of it.
constexpr milliseconds session_for(milliseconds ttl) { return std::max<milliseconds>(milliseconds{2000}, ttl * 9 / 4); }

class lease {
 public:
  void made(time_point sent, milliseconds session, milliseconds tick) {
    kept_ = sent;
    session_ = session;
    ttl_ = proven_ttl(session, tick);
    pause_ = session / touches;
    unheard_ = unheard_of(session, tick);
    over_ = false;
  }
  // At a server that says it is so long.
  void moved(milliseconds session) { over_ = over_ || session < session_; }
  // How long before a renewal was sent the server must have read something, for the leader to know of it.
  milliseconds unheard() const noexcept { return unheard_; }
  // Read: when the last packet had left that the server had read so long before.
  void renewed(time_point sent, time_point read, time_point now) {
    if (live(now)) kept_ = std::max(kept_, std::min(sent, read + pause_ + unheard_));
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
  milliseconds session_{}, ttl_{}, pause_{}, unheard_{};
  bool over_ = true;
};

}  // namespace tyer::zookeeper
