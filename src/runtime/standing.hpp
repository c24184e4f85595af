// The scheduling priority of the calling thread, relative to others of its process.
#pragma once

#include <sched.h>
#include <sys/resource.h>

#include <chrono>

namespace tyer::runtime {

// Larger means scheduled sooner; the number has no other meaning.
inline int standing() noexcept {
  const int policy = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  if (policy == SCHED_FIFO || policy == SCHED_RR) return 1000;
  if (policy == SCHED_IDLE) return -1000;
  return -::getpriority(PRIO_PROCESS, 0);  // of the thread, on Linux
}

// The same, cached for at most a tenth of a second.
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
