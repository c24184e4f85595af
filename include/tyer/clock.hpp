// The clock that leases are counted on.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/export.hpp>

#include <chrono>

namespace tyer {
inline namespace v1 {

// CLOCK_BOOTTIME: steady, and it goes on while the machine is suspended. A lease that was counted on CLOCK_MONOTONIC
// would look fresh to a laptop or a virtual machine that has just woken from an hour of sleep.
struct TYER_EXPORT lease_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<lease_clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept;
};

}  // namespace v1
}  // namespace tyer
