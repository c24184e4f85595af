// A gate that one thread closes and any thread opens. It has no queue: a thread that finds it closed leaves, or waits until
// it has been opened once.
//
// Not a std::mutex, which is owned by a thread; not std::binary_semaphore: libstdc++ makes a wake-up system call at every
// release, even if nobody sleeps, which is nearly always the case here.
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
#include <climits>
#include <cstdint>

namespace tyer::primitives {

class gate {
 public:
  bool try_close() noexcept {
    auto now = state_.load(std::memory_order_relaxed);
    while ((now & closed) == 0) {
      if (state_.compare_exchange_weak(now, now | closed, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  // True if a thread slept there.
  bool open() noexcept {
    auto now = state_.load(std::memory_order_relaxed);
    std::uint32_t next = 0;
    do {
      next = (now & ~(closed | awaited)) + one_opening;
    } while (!state_.compare_exchange_weak(now, next, std::memory_order_release, std::memory_order_relaxed));
    if ((now & awaited) == 0) return false;
    futex(FUTEX_WAKE_PRIVATE, INT_MAX, nullptr);
    return true;
  }

  // How often it was opened.
  std::uint32_t openings() const noexcept { return state_.load(std::memory_order_acquire) / one_opening; }

  // True if the gate is open, or was opened since openings() returned `openings`: it may be closed again when this returns.
  // `asleep` is called once it is certain that open() will return true for this thread.
  template <class F>
  bool wait_for_opening(std::uint32_t openings, std::chrono::steady_clock::time_point limit, F asleep) noexcept {
    auto now = state_.load(std::memory_order_acquire);
    const auto t = std::max<std::int64_t>(0, std::chrono::nanoseconds{limit.time_since_epoch()}.count());
    const timespec until{static_cast<time_t>(t / 1'000'000'000), static_cast<long>(t % 1'000'000'000)};
    while ((now & closed) != 0 && now / one_opening == openings) {
      if ((now & awaited) == 0 &&
          !state_.compare_exchange_weak(now, now | awaited, std::memory_order_acquire, std::memory_order_acquire))
        continue;
      asleep();
      const bool in_time = futex(FUTEX_WAIT_BITSET_PRIVATE, now | awaited, &until) == 0 || errno != ETIMEDOUT;
      now = state_.load(std::memory_order_acquire);
      if (!in_time) break;
    }
    return (now & closed) == 0 || now / one_opening != openings;
  }
  bool wait_for_opening(std::chrono::steady_clock::time_point limit) noexcept {
    return wait_for_opening(openings(), limit, [] {});
  }

 private:
  static constexpr std::uint32_t closed = 1, awaited = 2, one_opening = 4;  // the rest counts the openings

  long futex(int what, std::uint32_t value, const timespec* until) noexcept {
    return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&state_), what, value, until, nullptr,
                     FUTEX_BITSET_MATCH_ANY);
  }

  std::atomic<std::uint32_t> state_{0};
};

}  // namespace tyer::primitives
