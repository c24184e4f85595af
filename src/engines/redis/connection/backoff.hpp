// How long a connection that was lost waits before it is tried again.
#pragma once

#include <algorithm>
#include <chrono>

namespace tyer::redis {

inline constexpr std::chrono::milliseconds backoff_min{20}, backoff_max{1000};

// At the longest; by chance down to half of that, so that clients do not come back together. A quarter of the time that it has
// been away: an outage costs a hold at most a quarter more than it lasts, and a server that is away for long is asked seldom.
constexpr std::chrono::milliseconds longest_pause(std::chrono::nanoseconds away) noexcept {
  return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(away / 4), backoff_min, backoff_max);
}

inline constexpr std::chrono::milliseconds settled_least{100}, settled_most{1000};

// Whether a connection that lasted for `up`, after attempts for `away`, starts a new series of attempts: after a short absence
// soon, so that resets now and then cost no more than one; after a long one a server that lets us in for a moment does not.
constexpr bool settled(std::chrono::nanoseconds away, std::chrono::nanoseconds up) noexcept {
  return up >= std::clamp<std::chrono::nanoseconds>(away, settled_least, settled_most);
}

}  // namespace tyer::redis
