// Numbers that one thread at a time writes, and any thread reads meanwhile.
#pragma once

#include <tyer/stats.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tyer::stats {

// There is one writer at a time (it holds the coordinator's mutex), so adding is a plain load and store, without a locked
// instruction.
class cell {
 public:
  void add(std::uint64_t n = 1) noexcept { value_.store(get() + n, std::memory_order_relaxed); }
  void take(std::uint64_t n = 1) noexcept { value_.store(get() - n, std::memory_order_relaxed); }
  std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// The count is the sum of the buckets, so that the two never differ.
class histogram {
 public:
  void add(std::chrono::nanoseconds d) noexcept {
    constexpr auto& bounds = duration_histogram::bounds;
    std::size_t at = 0;
    while (at < bounds.size() && d > bounds[at]) ++at;
    buckets_[at].add();
    if (d > std::chrono::nanoseconds::zero()) sum_.add(static_cast<std::uint64_t>(d.count()));
  }
  duration_histogram read() const noexcept {
    duration_histogram h;
    for (std::size_t i = 0; i < buckets_.size(); ++i) h.buckets[i] = buckets_[i].get();
    h.sum = std::chrono::nanoseconds{static_cast<std::int64_t>(sum_.get())};
    return h;
  }

 private:
  std::array<cell, duration_histogram::bounds.size() + 1> buckets_;
  cell sum_;  // nanoseconds
};

// The smallest so far; none before the first.
class least {
 public:
  void see(std::chrono::nanoseconds d) noexcept {
    if (d.count() < value_.load(std::memory_order_relaxed)) value_.store(d.count(), std::memory_order_relaxed);
  }
  std::optional<std::chrono::nanoseconds> get() const noexcept {
    const auto v = value_.load(std::memory_order_relaxed);
    if (v == none) return {};
    return std::chrono::nanoseconds{v};
  }

 private:
  static constexpr std::int64_t none = std::chrono::nanoseconds::max().count();
  std::atomic<std::int64_t> value_{none};
};

}  // namespace tyer::stats
