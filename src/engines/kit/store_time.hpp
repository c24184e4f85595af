// The time of a server's clock since 1970, as its answers report it.
//
// A type of its own, so that it is never mixed with the time of this machine: expiry at a server is judged by the server's
// clock, and validity in this client by lease_clock. There is no now(), since the client cannot know the server's time.
#pragma once

#include <chrono>

namespace tyer::kit {

struct store_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<store_clock>;
  static constexpr bool is_steady = false;
};

using store_time = store_clock::time_point;

}  // namespace tyer::kit
