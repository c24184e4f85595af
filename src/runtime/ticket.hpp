// What one client has at the engine under one id: an attempt, then a hold, then a release.
#pragma once

#include "core/id.hpp"
#include "lease/acquire.hpp"
#include "lease/keeper.hpp"
#include "lease/release.hpp"
#include "lease/tenure.hpp"
#include "runtime/wish.hpp"

#include <tyer/hold.hpp>

#include <memory>
#include <string>
#include <variant>

namespace tyer::runtime {

using release_reply = core::function<void(tyer::failure, release_outcome)>;

struct ticket : lease::kept {
  core::id who;
  std::shared_ptr<const spec> what;
  lane* home = nullptr;  // null once it stands for nobody: it is being given back
  bool clean = true;     // given back by its owner, not after a loss
  engine::session via = 0;
  std::uint64_t part = 0;
  lease::time_point late_until = lease::time_point::min();  // until then a request without an answer may be executed
  std::variant<lease::acquire, lease::tenure, lease::release> stage;
  hold_ptr current;    // who has it now, in the tenure
  release_reply told;  // who wants to know of the release
  tyer::failure last;  // the engine's last words, for the caller who gets the error
  std::string owner;   // while it is being acquired

  explicit ticket(lease::acquire a) : stage(std::move(a)) {}

  lease::acquire* acquiring() noexcept { return std::get_if<lease::acquire>(&stage); }
  lease::tenure* held() noexcept { return std::get_if<lease::tenure>(&stage); }
  lease::release* releasing() noexcept { return std::get_if<lease::release>(&stage); }
};

// All wishes of one client for one name, mode and ttl, and the one ticket that stands for them at the engine.
struct lane {
  std::shared_ptr<const spec> what;
  lease::local_queue line;
  ticket* standing = nullptr;
  std::uint64_t seen = 0;  // the largest token part known for the name
  lease::link<lane> idle;  // among those kept for what they have seen

  explicit lane(std::shared_ptr<const spec> s) : what(std::move(s)), line(what->handoffs) {}
};

}  // namespace tyer::runtime
