// The fencing token: the engine's part, and the count of hand-offs inside one process.
#pragma once

#include <cstdint>

namespace tyer::core {

inline constexpr std::uint64_t handoffs_max = 255;

// The largest part that every engine can store: a Lua script's numbers are doubles. As a token it fits a signed 64-bit
// column with room to spare; counting microseconds it lasts until the year 2255.
inline constexpr std::uint64_t part_max = (std::uint64_t{1} << 53) - 1;

constexpr std::uint64_t make_token(std::uint64_t part, std::uint64_t handoff) noexcept { return part * 256 + handoff; }
constexpr std::uint64_t part_of(std::uint64_t token) noexcept { return token / 256; }
constexpr std::uint8_t handoffs_of(std::uint64_t token) noexcept { return static_cast<std::uint8_t>(token % 256); }

}  // namespace tyer::core
