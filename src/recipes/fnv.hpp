// A hash that is the same on every machine and in every version.
#pragma once

#include <cstdint>
#include <string_view>

namespace tyer {
inline namespace v1 {
namespace recipes {
namespace detail {

// FNV-1a of 64 bits.
constexpr std::uint64_t fnv1a(std::string_view text) noexcept {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

}  // namespace detail
}  // namespace recipes
}  // namespace v1
}  // namespace tyer
