// One attempt to get a lock from an engine: from the first request to a grant, or until it is given up.
//
//   state   | what happens
//   --------+-----------------------------------------------------------------------------------------------------
//   asking  | a request is under way; its one answer decides
//   queued  | the engine has us in its queue; a push, a keep or look-again makes us ask again (the claim)
//   resting | the last request failed, or the engine has no queue: ask again at wake_at() or when the engine is up
//   over    | granted, busy, failed or abandoned
//
// No socket, clock, thread or log: events and times come in, verbs go out. A push never grants anything: validity is
// counted only from the sending of a request whose answer granted.
#pragma once

#include "core/verdict.hpp"
#include "lease/backoff.hpp"
#include "lease/terms.hpp"

#include <cstdint>

namespace tyer::lease {

class acquire {
 public:
  struct plan {
    duration ttl;
    duration waiter_ttl;
    duration patience;   // how long failures in a row are tolerated
    duration not_after;  // an engine ignores a request that it would execute later than this
    bool enqueue;        // false: one attempt; `busy` if somebody else has the lock
  };

  enum class state : std::uint8_t { asking, queued, resting, over };
  enum class verb : std::uint8_t {
    none,     // wait for an event or for wake_at()
    ask,      // send the request, with the same id as before
    granted,  // part() and valid_until() are set
    busy,     // somebody else has it (only without enqueue)
    failed,   // trouble() says why
    anew,     // too late to be useful: release this id and start again with a new one
  };

  explicit acquire(const plan& p) noexcept : plan_(p) {}

  verb start(time_point now) noexcept { return ask(now); }
  // The request had to wait for its turn and leaves only now.
  void on_sent(time_point now) noexcept { asked_at_ = now; }

  verb on_granted(time_point now, time_point sent, std::uint64_t part, duration ttl) noexcept;
  verb on_queued(time_point now, bool head, duration look_again) noexcept;
  verb on_busy(time_point now, duration hint) noexcept;
  verb on_failure(time_point now, core::why w) noexcept;

  verb on_wake(time_point now) noexcept;
  verb on_kept(time_point now, core::fate f) noexcept;
  verb on_up(time_point now) noexcept;
  verb on_time(time_point now) noexcept;

  // The caller of a single attempt has left, and others wait behind it: from the next request on the attempt queues, with
  // their patience.
  void enqueue_from_now(duration patience) noexcept {
    plan_.enqueue = true;
    plan_.patience = patience;
  }

  state where() const noexcept { return state_; }
  bool enqueues() const noexcept { return plan_.enqueue; }
  time_point wake_at() const noexcept { return wake_at_; }
  std::uint64_t part() const noexcept { return part_; }
  // When the last request left.
  time_point asked_at() const noexcept { return asked_at_; }
  // About the granted request: when it left, the ttl that the engine gave, and how long the lock is ours.
  time_point granted_at() const noexcept { return granted_at_; }
  duration given() const noexcept { return given_; }
  time_point valid_until() const noexcept { return valid_until_; }
  core::why trouble() const noexcept { return trouble_; }

  // Whether the engine may know this id: if not, nothing needs to be released.
  bool touched() const noexcept { return touched_ || unsettled_; }
  // Until when a request that was sent may still be executed; a release that undoes it must be confirmed after that.
  // time_point::min() if every request was answered.
  time_point settled_at() const noexcept;
  // The same without the request under way: what remains when that one is answered.
  time_point unsettled_until() const noexcept;

 private:
  verb ask(time_point now) noexcept;
  verb rest(time_point until) noexcept;
  void answered() noexcept;

  plan plan_;
  state state_ = state::resting;
  core::why trouble_ = core::why::unknown;
  bool failing_ = false;
  bool woken_ = false;  // a push came while a request was under way
  bool head_ = false;
  bool asked_to_queue_ = false;
  bool touched_ = false;    // the engine has answered: it may know the id
  bool unsettled_ = false;  // a request may be executed after we stopped waiting for its answer
  backoff backoff_;
  time_point failing_since_{};
  time_point asked_at_{};
  time_point unsettled_at_{};
  time_point wake_at_ = time_point::max();
  time_point granted_at_{};
  duration given_{};
  time_point valid_until_{};
  std::uint64_t part_ = 0;
};

}  // namespace tyer::lease
