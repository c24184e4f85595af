// Users write milliseconds::max() for "for ever". Added to a time, that would overflow into the past.
#pragma once

#include <algorithm>
#include <chrono>

namespace tyer::core {

// Longer than any process runs, and short enough to be added to any time, even twice.
inline constexpr std::chrono::milliseconds for_ever = std::chrono::hours{24 * 365 * 100};

// A user's duration in our unit, limited so that it may be added to a time. The compiler has already converted units
// coarser than milliseconds to milliseconds.
template <class To = std::chrono::milliseconds, class From>
constexpr To within_for_ever(const From& d) {
  if (d >= for_ever) return std::chrono::duration_cast<To>(for_ever);
  if (d <= -for_ever) return std::chrono::duration_cast<To>(-for_ever);
  return std::chrono::ceil<To>(d);
}

}  // namespace tyer::core
