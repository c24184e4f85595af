// Releasing an id: once for a hold, and for an abandoned attempt until nothing of it can be left at the engine.
//
//   state    | what happens
//   ---------+---------------------------------------------------------------------------------------
//   sending  | a request is under way
//   resting  | it failed, or it must be repeated once a late request can no longer be executed
//   over     | outcome() is final
//
// Has its own deadline, independent of the caller's, who may be gone.
#pragma once

#include "core/verdict.hpp"
#include "lease/backoff.hpp"
#include "lease/terms.hpp"

#include <cstdint>

namespace tyer::lease {

class release {
 public:
  enum class state : std::uint8_t { resting, sending, over };
  enum class verb : std::uint8_t { none, send, done };
  enum class outcome : std::uint8_t { unknown, released, already_gone };

  // not_before: a confirmed release counts only if it was sent at or after this (settled_at() of an abandoned attempt).
  // give_up_at: no more tries after this; the engine's own expiry does the rest.
  release(time_point not_before, time_point give_up_at) noexcept
      : not_before_(not_before), give_up_at_(std::max(give_up_at, not_before + 1s)) {}

  verb start() noexcept { return send(); }
  // Starts later, at t.
  verb start_at(time_point t) noexcept {
    wake_at_ = t;
    return verb::none;
  }

  verb on_answer(time_point sent, core::fate was) noexcept;
  verb on_failure(time_point now, core::why w) noexcept;
  // The abandoned attempt's request was answered after all; older ones may still be executed until `not_before`. If it was
  // executed after our release and left something, the release must be repeated.
  verb on_settled(bool left_something, time_point not_before) noexcept;
  verb on_up() noexcept;
  verb on_time(time_point now) noexcept;

  state where() const noexcept { return state_; }
  time_point wake_at() const noexcept { return wake_at_; }
  time_point not_before() const noexcept { return not_before_; }
  time_point give_up_at() const noexcept { return give_up_at_; }
  outcome result() const noexcept { return outcome_; }
  // A request got no answer: the engine may have carried it out, whatever the later ones were answered.
  bool perhaps_done() const noexcept { return perhaps_done_; }

 private:
  verb send() noexcept;

  time_point not_before_;
  time_point give_up_at_;
  time_point wake_at_ = time_point::max();
  backoff backoff_;
  state state_ = state::resting;
  outcome outcome_ = outcome::unknown;
  bool perhaps_done_ = false;  // an earlier try may have been executed: then we ourselves may have caused `gone`
};

}  // namespace tyer::lease
