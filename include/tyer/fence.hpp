// Checking tokens, because a token that nobody checks is decoration.
#pragma once

#include <tyer/export.hpp>

#include <cstdint>
#include <mutex>

namespace tyer {
inline namespace v1 {

// The gate of a resource that lives in memory: lets a token in unless a larger conflicting one was seen before.
//
// Enter *before* the read that the write depends on, and write only if it let you in; else a read-modify-write can still
// lose an update.
//
// An equal token passes: it is the same holder coming back. `enter` is for exclusive holders; `enter_shared` for shared
// ones, which do not conflict with each other.
//
// Thread safety: everything may be called from any thread. The gate is not a lock: it orders, it does not exclude.
class fence_gate {
 public:
  fence_gate() = default;
  // For a gate that comes back from storage: start at what was seen.
  explicit fence_gate(std::uint64_t seen) noexcept : max_exclusive_(seen), max_any_(seen) {}

  [[nodiscard]] bool enter(std::uint64_t token) noexcept {
    std::lock_guard guard{mutex_};
    if (token < max_any_) return false;
    max_any_ = max_exclusive_ = token;
    return true;
  }

  [[nodiscard]] bool enter_shared(std::uint64_t token) noexcept {
    std::lock_guard guard{mutex_};
    if (token <= max_exclusive_) return false;
    if (token > max_any_) max_any_ = token;
    return true;
  }

  std::uint64_t seen() const noexcept {
    std::lock_guard guard{mutex_};
    return max_any_;
  }

 private:
  mutable std::mutex mutex_;
  std::uint64_t max_exclusive_ = 0;
  std::uint64_t max_any_ = 0;
};

}  // namespace v1
}  // namespace tyer
