#include "engines/redis/deployment/cluster/hash_slot.hpp"

#include <array>

namespace tyer::redis {

namespace {

// CRC-16/XMODEM: polynomial 0x1021, not reflected, begins with 0.
constexpr auto table = [] {
  std::array<std::uint16_t, 256> t{};
  for (std::uint32_t i = 0; i < t.size(); ++i) {
    std::uint32_t crc = i << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000U) != 0 ? (crc << 1) ^ 0x1021U : crc << 1;
    t[i] = static_cast<std::uint16_t>(crc);
  }
  return t;
}();

std::uint16_t crc16(std::string_view text) noexcept {
  std::uint32_t crc = 0;
  for (const char c : text) crc = ((crc << 8) ^ table[((crc >> 8) ^ static_cast<unsigned char>(c)) & 0xffU]) & 0xffffU;
  return static_cast<std::uint16_t>(crc);
}

std::string_view hash_tag(std::string_view key) noexcept {
  const auto open = key.find('{');
  if (open == key.npos) return key;
  const auto close = key.find('}', open + 1);
  return close == key.npos || close == open + 1 ? key : key.substr(open + 1, close - open - 1);
}

}  // namespace

std::uint16_t hash_slot(std::string_view key) noexcept {
  return static_cast<std::uint16_t>(crc16(hash_tag(key)) % slots_in_all);
}

}  // namespace tyer::redis
