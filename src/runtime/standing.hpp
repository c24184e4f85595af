// How the system schedules the calling thread, beside others of its process.
#pragma once

#include <sched.h>
#include <sys/resource.h>

#include <chrono>

namespace tyer::runtime {

// Larger: sooner. Not comparable in any other way.
inline int standing() noexcept {
  const int policy = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  if (policy == SCHED_FIFO || policy == SCHED_RR) return 1000;
  if (policy == SCHED_IDLE) return -1000;
  return -::getpriority(PRIO_PROCESS, 0);  // of the thread, on Linux
}

// The same, as it was at most a tenth of a second ago.
inline int recent_standing() noexcept {
  using clock = std::chrono::steady_clock;
  struct known {
    int value = 0;
    clock::time_point until{};
  };
  thread_local known k;
  const auto now = clock::now();
  if (now >= k.until) k = {standing(), now + std::chrono::milliseconds{100}};
  return k.value;
}

}  // namespace tyer::runtime
