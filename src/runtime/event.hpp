// What the coordinator reports, before it is put into the public form (api/events.cpp).
#pragma once

#include "core/id.hpp"
#include "engine/engine.hpp"
#include "lease/terms.hpp"
#include "runtime/spec.hpp"

#include <tyer/event.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace tyer::runtime {

// As the engine knows it, and how often this client has handed it off since, if it is one of its own.
struct holder {
  engine::entry seen;
  std::uint8_t handoffs = 0;
};

struct event {
  event_kind kind;
  std::chrono::system_clock::time_point when = {};
  std::shared_ptr<const spec> what = {};  // null: about the engine
  std::string group = {};                 // its name
  core::id who = {};
  std::uint8_t handoffs = 0;
  std::uint64_t token = 0;
  std::optional<loss_reason> reason = {};
  lease::duration lasted{};
  std::source_location where = {};
  std::size_t waiters = 0;
  std::vector<holder> holders = {};
  engine::server_facts server = {};
  std::string words = {};
};

}  // namespace tyer::runtime
