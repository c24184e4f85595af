// The verdicts of engines, shared by the seam and the lease machines.
#pragma once

#include <cstdint>

namespace tyer::core {

// What an id is at the engine. unknown: some of several servers could not be asked, so nothing is proven.
enum class fate : std::uint8_t { holding, waiting, gone, unknown };

// Why a request brought no answer.
enum class why : std::uint8_t {
  not_sent,       // certainly not executed
  unknown,        // perhaps executed
  refused,        // the engine answered with an error and a message
  name_conflict,  // the key holds something that is not a lock
  unsupported,
  over_limit,
};

// True if a retry can help; the outcome is still open.
constexpr bool passing(why w) noexcept { return w == why::not_sent || w == why::unknown; }

}  // namespace tyer::core
