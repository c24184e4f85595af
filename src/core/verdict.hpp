// The words in which engines answer, shared by the seam and the machines of the lease.
#pragma once

#include <cstdint>

namespace tyer::core {

// What an id is at the engine. unknown: some servers of several could not be asked; no proof of anything.
enum class fate : std::uint8_t { holding, waiting, gone, unknown };

// Why a request brought no answer.
enum class why : std::uint8_t {
  not_sent,       // certainly not executed
  unknown,        // perhaps executed
  refused,        // the engine said no, in words
  name_conflict,  // something else lies there
  unsupported,
  over_limit,
};

// Trying again can help, and the outcome of the lock is open.
constexpr bool passing(why w) noexcept { return w == why::not_sent || w == why::unknown; }

}  // namespace tyer::core
