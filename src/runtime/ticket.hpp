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

// Lost, with a lock delay: the engine keeps the place closed until the owner says that it has stopped.
struct lapsed {
  lease::time_point end;    // of what its owner was promised
  lease::time_point until;  // the delay is over then anyway
};

// A change of mode under way, and the one behind it, which waits until it is settled.
struct conversion {
  lease::convert machine;
  std::uint64_t serial = 0;              // of the last request: answers to older ones are not looked at
  std::uint64_t before = 0;              // the token part that the change must be above
  bool answered = false;                 // the engine has said that others are in the way, and not fallen silent since
  std::shared_ptr<change> current = {};  // null if nobody waits for it: a given-up upgrade is taken back
  std::shared_ptr<change> next = {};
};

struct ticket : lease::kept, timed {
  core::id who;
  std::shared_ptr<const spec> what;
  engine::mode how = engine::mode::exclusive;    // now: a conversion changes it
  lane* home = nullptr;                          // null once it stands for nobody: it is being given back
  bool queued = false;                           // the engine has let it wait for others
  bool clean = true;                             // given back by its owner, not after a loss
  bool asked_back = false;                       // somebody at the engine has asked for it
  bool unsure = false;                           // given back while its mode changed: the engine may have it in another
  bool upgraded = false;                         // exclusive, but not by the engine's grant
  bool in_doubt = false;                         // upgraded, and a server that has come back may not know it any more
  bool held_back = false;                        // its request has not left: too many others are under way
  bool unasked = false, unkept = false;          // for want of memory: a request was not made, a renewal not planned
  lease::link<ticket> turn;                      // among the requests for its name that have not left
  std::uint32_t handoffs = 0;                    // since the engine's grant
  std::optional<lease::time_point> rests_until;  // given back before its min_hold was over
  std::uint64_t part = 0;
  std::vector<std::uint32_t> slots;
  core::hold_key key;
  lease::time_point again_at = lease::time_point::max();    // and then it is tried again
  lease::time_point late_until = lease::time_point::min();  // until then a request without an answer may be executed
  std::variant<lease::acquire, lease::tenure, lapsed, lease::release> stage;
  std::unique_ptr<conversion> changing;
  confirmation* confirming = nullptr;  // those who ask whether it stands
  hold_ptr current;                    // who has it now, in the tenure
  release_reply told;                  // who wants to know of the release
  tyer::failure last;                  // the engine's last words, for the caller who gets the error
  std::string owner;                   // while it is being acquired

  explicit ticket(lease::acquire a) : stage(std::move(a)) {}

  lease::acquire* acquiring() noexcept { return std::get_if<lease::acquire>(&stage); }
  lease::tenure* held() noexcept { return std::get_if<lease::tenure>(&stage); }
  lapsed* lost() noexcept { return std::get_if<lapsed>(&stage); }
  lease::release* releasing() noexcept { return std::get_if<lease::release>(&stage); }
};

// All acquisitions of one client for one name in one manner, and the one ticket that stands for them at the engine.
//
// An exclusive ticket stands for its lane until it is given back: the others wait for it. A shared hold or a permit stands
// aside once it is granted, so that the next acquisition goes to the engine. A try, or an acquisition with a limit, that comes while
// the answer to such a request is open does not wait for it: it gets a lane apart, and a request of its own at once.
struct lane {
  std::shared_ptr<const spec> what;
  lease::local_queue line;
  ticket* standing = nullptr;
  std::size_t tries = 0;            // of those in line
  std::size_t tickets = 0;          // that have it as their home, the standing one included
  bool taken = false;               // others have the lock: the engine has said so, or it is with one of this client
  lease::time_point taken_until{};  // if not: when that was last known
  tyer::failure silence;            // if not: the last words there were
  std::optional<lease::time_point> silent_since;          // when the first request left that had no answer since
  lease::time_point tells_at = lease::time_point::max();  // and when the first in line has borne that for long enough
  std::uint32_t late = 0;                                 // grants in a row that came too late to be of use
  lease::time_point late_since{};
  tyer::failure too_late;  // what to say of them
  lane* beside = nullptr;  // of one that asks for itself: the lane that it will belong to, where its place is counted
  bool apart = false;      // of one that asks for itself: it ends with that
  lease::link<lane> idle;  // among those that are kept for the next who wants the same

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
  // A request is made for those in line: nothing is known yet.
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
