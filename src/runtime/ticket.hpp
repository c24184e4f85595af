// What one client has at the engine under one id: an attempt, then a hold, then a release.
#pragma once

#include "core/id.hpp"
#include "lease/acquire.hpp"
#include "lease/convert.hpp"
#include "lease/keeper.hpp"
#include "lease/release.hpp"
#include "lease/tenure.hpp"
#include "runtime/acquisition.hpp"
#include "runtime/agenda.hpp"

#include <tyer/hold.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tyer::runtime {

class confirmation;  // coordinator/confirm.cpp
using release_reply = core::function<void(tyer::failure, release_outcome)>;

// Lost, with a lock delay: the engine keeps the lock blocked until the owner releases the lost hold.
struct lapsed {
  lease::time_point end;    // end of the validity that its owner was promised
  lease::time_point until;  // the delay ends then in any case
};

// A conversion under way, and the next one, which waits for it.
struct conversion {
  lease::convert machine;
  std::uint64_t serial = 0;              // of the last request: answers to older ones are ignored
  std::uint64_t before = 0;              // the token part that the change must be above
  bool answered = false;                 // the engine has said that others block it, and has not fallen silent since
  std::shared_ptr<change> current = {};  // null if no caller waits: a cancelled upgrade is being undone
  std::shared_ptr<change> next = {};
};

struct ticket : lease::kept, timed {
  core::id who;
  std::shared_ptr<const spec> what;
  engine::mode how = engine::mode::exclusive;    // now: a conversion changes it
  lane* home = nullptr;                          // null once it is being released
  bool queued = false;                           // the engine has queued it
  bool clean = true;                             // released by its owner, not after a loss
  bool asked_back = false;                       // somebody at the engine has asked for it
  bool unsure = false;                           // released during a conversion: the engine may have it in either mode
  bool upgraded = false;                         // exclusive, but not by the engine's grant
  bool in_doubt = false;                         // upgraded, and a server that has come back may have lost that
  bool held_back = false;                        // its request was not sent yet: too many others are under way
  bool unasked = false, unkept = false;          // out of memory: a request was not made, a renewal not planned
  lease::link<ticket> turn;                      // among the unsent requests for its name
  std::uint32_t handoffs = 0;                    // since the engine's grant
  std::optional<lease::time_point> rests_until;  // released before its min_hold was over
  std::uint64_t part = 0;
  std::vector<std::uint32_t> slots;
  core::hold_key key;
  lease::time_point again_at = lease::time_point::max();    // time of the next retry
  lease::time_point alone_again{};                          // from when on, refused with others, it is renewed alone
  lease::time_point late_until = lease::time_point::min();  // until then an unanswered request may still be executed
  std::variant<lease::acquire, lease::tenure, lapsed, lease::release> stage;
  std::unique_ptr<conversion> changing;
  confirmation* confirming = nullptr;  // callers of hold::confirm()
  hold_ptr current;                    // the current owner's hold
  release_reply told;                  // reply for the caller that waits for the release
  tyer::failure last;                  // the engine's last message, for the caller's error
  std::string owner;                   // while it is being acquired
  std::string refusal;                 // the engine's words, if it has refused to renew this hold alone

  explicit ticket(lease::acquire a) : stage(std::move(a)) {}

  lease::acquire* acquiring() noexcept { return std::get_if<lease::acquire>(&stage); }
  lease::tenure* held() noexcept { return std::get_if<lease::tenure>(&stage); }
  lapsed* lost() noexcept { return std::get_if<lapsed>(&stage); }
  lease::release* releasing() noexcept { return std::get_if<lease::release>(&stage); }
};

// All acquisitions of one client for one name on the same terms, and the one ticket that stands for them at the engine.
//
// An exclusive ticket stands for its lane until it is given back: the others wait for it. A shared hold or a permit stops
// standing for the lane once it is granted, so that the next acquisition goes to the engine. A try, or an acquisition with
// a limit, that comes while such a request is unanswered does not wait for it: it gets a separate lane, and a request of
// its own at once.
struct lane {
  std::shared_ptr<const spec> what;
  lease::local_queue line;
  ticket* standing = nullptr;
  std::size_t tries = 0;            // tries among those in line
  std::size_t tickets = 0;          // tickets whose home it is, including the standing one
  bool taken = false;               // others have the lock: the engine has said so, or a caller of this client has it
  lease::time_point taken_until{};  // if not: when that was last known
  tyer::failure silence;            // if not: the last error message
  std::optional<lease::time_point> silent_since;          // when the first of the unanswered requests left
  lease::time_point tells_at = lease::time_point::max();  // when the first in line gives up because of that
  lease::time_point slow_again_at{};                      // the next report of a slow wait, if there is one
  std::uint32_t late = 0;                                 // grants in a row that came too late to be useful
  lease::time_point late_since{};
  tyer::failure too_late;  // the error for them
  lane* beside = nullptr;  // of a separate lane: the shared lane that its ticket will join, where it is counted
  bool apart = false;      // a separate lane: it ends with its one acquisition
  lease::link<lane> idle;  // among the idle lanes that are kept for reuse

  explicit lane(std::shared_ptr<const spec> s) : what(std::move(s)), line(what->handoffs) {}

  // The engine has answered a request for those in line.
  void heard(bool others_have_it, lease::time_point now) noexcept {
    expect(now);
    taken = others_have_it;
  }
  void not_heard(tyer::failure why, lease::time_point sent) noexcept {
    taken = false;
    silence = std::move(why);
    if (!silent_since) silent_since = sent;
  }
  // A request was sent for those in line: its answer is open.
  void expect(lease::time_point now) noexcept {
    if (std::exchange(taken, false)) taken_until = now;
    silence = {};
    silent_since.reset();
    tells_at = lease::time_point::max();
  }
  void in_time() noexcept {
    late = 0;
    too_late = {};
  }
};

}  // namespace tyer::runtime
