// Durations come from users, who write milliseconds::max() for "for ever". Added to a time that would be long ago.
#pragma once

#include <algorithm>
#include <chrono>

namespace tyer::core {

// Longer than anything lasts, and short enough to be added to any time there is, even twice.
inline constexpr std::chrono::milliseconds for_ever = std::chrono::hours{24 * 365 * 100};

// What a user has said, in the unit that it is counted in here, such that it may be added to a time. From whatever is coarser
// than milliseconds the compiler has made milliseconds already.
template <class To = std::chrono::milliseconds, class From>
constexpr To within_for_ever(const From& d) {
  if (d >= for_ever) return std::chrono::duration_cast<To>(for_ever);
  if (d <= -for_ever) return std::chrono::duration_cast<To>(-for_ever);
  return std::chrono::ceil<To>(d);
}

}  // namespace tyer::core
