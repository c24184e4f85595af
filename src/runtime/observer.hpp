// Watches who holds a name and who waits for it.
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
  bool waiters = true;                // reports them too
  std::chrono::milliseconds every{};  // reads this often, and whenever the engine announces a change
  std::chrono::milliseconds apart{};  // shortest time between the end of a read and the next one
  // Called after each read, on the coordinator's thread: must not block.
  core::function<void(const engine::outcome<engine::page>&)> seen;

  // The coordinator's own.
  bool watched = true;
  bool looking = false;
  bool again = false;              // something changed during the read
  lease::time_point not_before{};  // the next read
};

}  // namespace tyer::runtime
