// How often those are asked who know where the master is, while it is away. One that nobody replaces, or that refuses this
// client, may stay so for days: so it costs the longer the fewer requests, and the outage hardly more than it lasts.
#pragma once

#include <algorithm>
#include <chrono>

namespace tyer::redis {

inline std::chrono::milliseconds pace(std::chrono::nanoseconds away, std::chrono::milliseconds least,
                                      std::chrono::milliseconds most) {
  return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(away / 32), least, most);
}

}  // namespace tyer::redis
