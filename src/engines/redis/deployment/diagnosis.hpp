// The findings about servers for `tyer doctor`, from their INFO.
#pragma once

#include "engine/engine.hpp"
#include "engines/redis/deployment/deployment.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tyer::redis {

// What the diagnosis needs from the URI.
struct promises {
  bool confirmed = false;                     // `?replicas=` asks the replicas
  bool tokens = true;                         // grants have tokens, which rest on the servers' clocks
  std::chrono::milliseconds tombstone_ttl{};  // `?tombstone_ttl=`
  const core::clock* clock = nullptr;         // of this machine
};

// Severity: 1 good to know, 2 weakens a promise, 3 locks do not work.
std::vector<engine::finding> examine(std::string_view info, std::uint32_t clock_jumps, const promises&);

// Every master, and whether their clocks agree.
void examine_all(deployment&, const promises&, engine::reply<std::vector<engine::finding>>);

// A finding if clocks this far apart may make tokens run backwards, when one of them is set or another server takes over.
// Nothing if a free lock remembers its last token for long enough.
std::optional<engine::finding> examine_tombstones(std::chrono::milliseconds apart, std::chrono::milliseconds ttl);

}  // namespace tyer::redis
