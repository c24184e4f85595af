// One waiting caller sleeps on one latch.
//
// Not std::atomic<bool>::wait: for anything but a 32-bit number libstdc++ sleeps on one of sixteen shared counters, so
// waking one caller wakes all that sleep on the same counter, and each of them yields its processor four times before it
// sleeps again. With 64 callers on a hot name that was most of the work (46 thread switches for each turn).
//
// Thread safety: one may wait, one may let go.
#pragma once

#include "runtime/chain.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace tyer::runtime {

class latch {
 public:
  std::shared_ptr<latch> behind;  // in a latch_line

  bool open() const noexcept { return state_.load(std::memory_order_acquire) == is_open; }

  void let_go() noexcept {
    if (state_.exchange(is_open, std::memory_order_acq_rel) == asleep) futex(FUTEX_WAKE_PRIVATE, 1);
  }

  void wait() noexcept {
    std::uint32_t now = closed;
    state_.compare_exchange_strong(now, asleep, std::memory_order_acq_rel);
    while (!open()) futex(FUTEX_WAIT_PRIVATE, asleep);
  }

 private:
  static constexpr std::uint32_t closed = 0, asleep = 1, is_open = 2;

  void futex(int what, std::uint32_t value) noexcept {
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&state_), what, value, nullptr, nullptr, 0);
  }

  std::atomic<std::uint32_t> state_{closed};
};

using latch_line = chain<latch>;  // latches of callers whose answer has come

}  // namespace tyer::runtime
