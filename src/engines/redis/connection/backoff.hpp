// How long to wait before a lost connection is retried.
#pragma once

#include <algorithm>
#include <chrono>

namespace tyer::redis {

inline constexpr std::chrono::milliseconds backoff_min{20}, backoff_max{1000};

// The longest pause; the real one is random, down to half of that, so that clients do not come back together. It is a
// quarter of the outage so far: so a client is back at most a quarter of the outage later than the server, and a server
// that is away for long is tried seldom.
constexpr std::chrono::milliseconds longest_pause(std::chrono::nanoseconds away) noexcept {
  return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(away / 4), backoff_min, backoff_max);
}

inline constexpr std::chrono::milliseconds settled_least{100}, settled_most{1000};

// Whether a connection that lasted for `up`, after attempts for `away`, resets the backoff. After a short outage it does so
// soon, so that occasional connection resets cost one short pause each; after a long outage a server that accepts us only
// for a moment does not reset it.
constexpr bool settled(std::chrono::nanoseconds away, std::chrono::nanoseconds up) noexcept {
  return up >= std::clamp<std::chrono::nanoseconds>(away, settled_least, settled_most);
}

}  // namespace tyer::redis
