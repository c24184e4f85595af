// Giving an id back: once for a hold, and for an abandoned attempt until nothing of it can be left behind.
//
//   state    | what happens
//   ---------+---------------------------------------------------------------------------------------
//   sending  | a request is under way
//   resting  | it failed, or it must be repeated once a late request can no longer be executed
//   over     | outcome() is final
//
// Has its own deadline, never that of a caller who went away.
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
  // Not now, but then.
  verb start_at(time_point t) noexcept {
    wake_at_ = t;
    return verb::none;
  }

  verb on_answer(time_point sent, core::fate was) noexcept;
  verb on_failure(time_point now, core::why w) noexcept;
  // The abandoned attempt's request has its answer after all; older ones may still be executed until `not_before`. If it
  // came after our own answer and left something behind, that must be undone once more.
  verb on_settled(bool left_something, time_point not_before) noexcept;
  verb on_up() noexcept;
  verb on_time(time_point now) noexcept;

  state where() const noexcept { return state_; }
  time_point wake_at() const noexcept { return wake_at_; }
  time_point not_before() const noexcept { return not_before_; }
  time_point give_up_at() const noexcept { return give_up_at_; }
  outcome result() const noexcept { return outcome_; }
  // A request had no answer: whatever came of those behind it, the engine may have carried it out.
  bool perhaps_done() const noexcept { return perhaps_done_; }

 private:
  verb send() noexcept;

  time_point not_before_;
  time_point give_up_at_;
  time_point wake_at_ = time_point::max();
  backoff backoff_;
  state state_ = state::resting;
  outcome outcome_ = outcome::unknown;
  bool perhaps_done_ = false;  // an earlier try may have been executed: `gone` is then our own doing
};

}  // namespace tyer::lease
