// What one waiting caller waits for.
//
// Not std::atomic<bool>::wait: for anything but a 32-bit number libstdc++ sleeps on one of sixteen shared counters, so
// letting one caller go wakes all that sleep on the same one, and each of them yields its processor four times before it
// sleeps again. With 64 callers on a hot name that was most of the work (46 switches between threads for each turn).
//
// Thread safety: one may wait, one may let go.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

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

// Those whose answer is there: a line through its members, so that nobody stays outside for want of memory.
class latch_line {
 public:
  bool empty() const noexcept { return first_ == nullptr; }

  void push(std::shared_ptr<latch> l) noexcept {
    latch* const raw = l.get();
    (last_ != nullptr ? last_->behind : first_) = std::move(l);
    last_ = raw;
  }
  std::shared_ptr<latch> pop() noexcept {
    auto l = std::move(first_);
    if (l) first_ = std::move(l->behind);
    if (!first_) last_ = nullptr;
    return l;
  }
  void swap(latch_line& other) noexcept {
    first_.swap(other.first_);
    std::swap(last_, other.last_);
  }

 private:
  std::shared_ptr<latch> first_;
  latch* last_ = nullptr;
};

}  // namespace tyer::runtime
