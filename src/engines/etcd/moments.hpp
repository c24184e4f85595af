// Moments for gRPC, told by a clock that nobody sets: a wall clock that jumps just then would make them hours late.
#pragma once

#include <grpc/support/time.h>

#include <algorithm>
#include <chrono>

namespace tyer::etcd {

inline gpr_timespec from_now(std::chrono::nanoseconds d) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_nanos(std::max<std::int64_t>(d.count(), 0), GPR_TIMESPAN));
}

}  // namespace tyer::etcd
