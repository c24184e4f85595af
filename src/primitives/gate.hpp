// Closed by one, opened by whoever, passed by one of those who wait: a binary semaphore.
//
// Not std::binary_semaphore: libstdc++ asks the kernel to wake somebody at every release, also when nobody sleeps, which is
// nearly always here.
//
// Thread safety: everything may be called from any thread.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>

namespace tyer::primitives {

class gate {
 public:
  bool try_acquire() noexcept {
    std::uint32_t now = is_open;
    return state_.compare_exchange_strong(now, closed, std::memory_order_acquire, std::memory_order_relaxed);
  }

  void acquire() noexcept {
    if (!try_acquire()) static_cast<void>(sleep(nullptr));
  }

  bool try_acquire_until(std::chrono::steady_clock::time_point limit) noexcept {
    if (try_acquire()) return true;
    const auto t = std::max<std::int64_t>(0, std::chrono::nanoseconds{limit.time_since_epoch()}.count());
    const timespec until{static_cast<time_t>(t / 1'000'000'000), static_cast<long>(t % 1'000'000'000)};
    return sleep(&until);
  }

  void release() noexcept {
    if (state_.exchange(is_open, std::memory_order_release) == awaited) futex(FUTEX_WAKE_PRIVATE, 1, nullptr);
  }

 private:
  static constexpr std::uint32_t is_open = 0, closed = 1, awaited = 2;

  // Whoever has slept closes it as `awaited`: others may be asleep still.
  bool sleep(const timespec* until) noexcept {
    while (state_.exchange(awaited, std::memory_order_acquire) != is_open) {
      if (futex(FUTEX_WAIT_BITSET_PRIVATE, awaited, until) != 0 && errno == ETIMEDOUT) return try_acquire();
    }
    return true;
  }

  long futex(int what, std::uint32_t value, const timespec* until) noexcept {
    return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&state_), what, value, until, nullptr,
                     FUTEX_BITSET_MATCH_ANY);
  }

  std::atomic<std::uint32_t> state_{is_open};
};

}  // namespace tyer::primitives
