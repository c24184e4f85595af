// What a doctor would say about servers, from their INFO.
#pragma once

#include "engine/engine.hpp"
#include "engines/redis/deployment.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tyer::redis {

// Severity: 1 good to know, 2 weakens a promise, 3 locks do not work. confirmed: `?replicas=` asks the replicas.
std::vector<engine::finding> examine(std::string_view info, std::uint32_t clock_jumps, bool confirmed);

// Every master, and whether their clocks agree.
void examine_all(deployment&, bool confirmed, engine::reply<std::vector<engine::finding>>);

}  // namespace tyer::redis
