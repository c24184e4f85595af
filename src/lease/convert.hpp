// Changing the mode of a hold: to exclusive, which may have to wait until the other readers are gone, or to shared.
//
//   state   | what happens
//   --------+-----------------------------------------------------------------------------------------------------
//   idle    | nothing is under way
//   asking  | a request is under way; its one answer decides
//   queued  | the upgrade waits at the engine, before its queue; a push or look-again makes us ask again
//   resting | the last request failed, or an earlier one must be settled first: ask again at wake_at()
//
// The hold itself is renewed all the while; when it is lost, so is the conversion. There is no patience limit: without the
// engine the hold ends first.
//
// Two requests with opposite goals must never overtake each other: a late downgrade would make shared an owner that was told
// it is exclusive. So an upgrade is requested only when no earlier downgrade can be executed any more, and an upgrade that
// was given up is undone once more when it can no longer be executed.
#pragma once

#include "core/verdict.hpp"
#include "lease/backoff.hpp"
#include "lease/terms.hpp"

#include <cstdint>

namespace tyer::lease {

class convert {
 public:
  enum class goal : std::uint8_t { shared, exclusive };
  enum class state : std::uint8_t { idle, asking, queued, resting };
  enum class verb : std::uint8_t {
    none,     // wait for an event or for wake_at()
    ask,      // send the request for to()
    granted,  // it is done
    busy,     // another holder is upgrading
    failed,   // the engine refused
  };

  // not_after: an engine ignores a request that it would execute later than this.
  convert(duration ttl, duration not_after) noexcept : ttl_(ttl), not_after_(not_after) {}

  // Only when idle.
  verb begin(goal to, time_point now) noexcept;
  // The caller no longer waits for the upgrade: the goal is shared again.
  verb give_up(time_point now) noexcept;

  verb on_granted(time_point now, time_point sent) noexcept;
  verb on_queued(time_point now, duration look_again) noexcept;
  verb on_busy() noexcept;
  verb on_failure(time_point now, core::why w) noexcept;
  verb on_wake(time_point now) noexcept;
  verb on_up(time_point now) noexcept;
  verb on_time(time_point now) noexcept;

  goal to() const noexcept { return to_; }
  state where() const noexcept { return state_; }
  time_point wake_at() const noexcept { return wake_at_; }

 private:
  verb ask(time_point now) noexcept;
  verb rest(time_point until) noexcept;
  verb over(verb v) noexcept;
  time_point settled(time_point asked) const noexcept { return asked + 2 * not_after_; }

  duration ttl_, not_after_;
  goal to_ = goal::shared;
  state state_ = state::idle;
  bool woken_ = false;  // a push came while a request was under way
  backoff backoff_;
  time_point asked_at_{};
  time_point wake_at_ = time_point::max();
  time_point shared_until_ = time_point::min();     // until then a request to shared may be executed
  time_point exclusive_until_ = time_point::min();  // until then one to exclusive may be
};

}  // namespace tyer::lease
