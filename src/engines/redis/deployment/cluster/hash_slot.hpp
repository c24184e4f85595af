// Which of the 16384 slots of a cluster a key belongs to.
#pragma once

#include <cstdint>
#include <string_view>

namespace tyer::redis {

inline constexpr std::uint32_t slots_in_all = 16384;

// CRC16 of the text between the first { and the next }, or of the whole key if that is empty.
std::uint16_t hash_slot(std::string_view key) noexcept;

}  // namespace tyer::redis
