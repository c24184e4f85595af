// What a doctor would say about a server, from its INFO.
#pragma once

#include "engine/engine.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tyer::redis {

// Severity: 1 good to know, 2 weakens a promise, 3 locks do not work.
std::vector<engine::finding> examine(std::string_view info, std::uint32_t clock_jumps);

}  // namespace tyer::redis
