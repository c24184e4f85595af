#include "proxy/sha1.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace fault {

namespace {

using state = std::array<std::uint32_t, 5>;

void mix(state& h, const unsigned char* block) {
  std::array<std::uint32_t, 80> w;
  for (int i = 0; i < 16; ++i) {
    w[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
           std::uint32_t{block[4 * i + 2]} << 8 | std::uint32_t{block[4 * i + 3]};
  }
  for (int i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  auto [a, b, c, d, e] = h;
  for (int i = 0; i < 80; ++i) {
    const std::uint32_t f = i < 20   ? (b & c) | (~b & d)
                            : i < 40 ? b ^ c ^ d
                            : i < 60 ? (b & c) | (b & d) | (c & d)
                                     : b ^ c ^ d;
    const std::uint32_t k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
    const std::uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  h = {h[0] + a, h[1] + b, h[2] + c, h[3] + d, h[4] + e};
}

}  // namespace

std::string sha1_hex(std::string_view text) {
  std::string padded{text};
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift);

  state h{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  for (std::size_t at = 0; at < padded.size(); at += 64)
    mix(h, reinterpret_cast<const unsigned char*>(padded.data()) + at);

  std::string hex;
  for (const std::uint32_t word : h) {
    for (int shift = 28; shift >= 0; shift -= 4) hex += "0123456789abcdef"[word >> shift & 15];
  }
  return hex;
}

}  // namespace fault
