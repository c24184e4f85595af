// A request on its way, and its answer.
#pragma once

#include "engine/engine.hpp"
#include "sim/scenario.hpp"
#include "sim/world.hpp"

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace tyer::sim {

using core::fate;
using core::id;
using engine::mode;

struct call {
  enum class kind : std::uint8_t { acquire, keep, release, convert, ask };
  kind what;
  std::uint64_t serial = 0;             // among the calls of one client
  engine::request ask;                  // acquire; of convert the time it may take
  std::vector<engine::target> targets;  // all but acquire: ask has only a name
  fate as = fate::holding;              // keep
  milliseconds ttl{};                   // keep
  bool clean = true;                    // release
  mode to = mode::shared;               // convert
  moment made, sent;
  moment not_after;  // as the server is told it
};
using call_ptr = std::unique_ptr<call>;

using answers = std::variant<engine::answer, engine::kept, fate, std::uint32_t, engine::failure>;

}  // namespace tyer::sim
