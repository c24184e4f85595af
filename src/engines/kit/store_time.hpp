// The time of a store: of a server's clock, as its answers tell it, since 1970.
//
// A type of its own, so that it never meets the time of this machine: what expires at a server is judged by the server's clock, and
// what this client may rely on by lease_clock. Nobody here can ask what time it is there: there is no now().
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
