// Somebody who wants to know who has a name.
#pragma once

#include "core/function.hpp"
#include "engine/engine.hpp"
#include "runtime/agenda.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace tyer::runtime {

struct observer : timed, std::enable_shared_from_this<observer> {
  std::string name;
  bool waiters = true;                // it wants to know of them too
  std::chrono::milliseconds every{};  // looks so often, and whenever the engine tells of a change
  std::chrono::milliseconds apart{};  // but its looks begin at least so long after the one before has ended
  // After each look, on the coordinator's thread: must not block.
  core::function<void(const engine::outcome<engine::page>&)> seen;

  // The coordinator's own.
  bool watched = true;
  bool looking = false;
  bool again = false;              // something changed while it looked
  lease::time_point not_before{};  // the next look
};

}  // namespace tyer::runtime
