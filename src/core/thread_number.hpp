// A number for each thread. The system gives the id of a thread that has ended to a later one; a number is given once.
#pragma once

#include <atomic>
#include <cstdint>

namespace tyer::core {

inline std::uint64_t this_thread() noexcept {  // never 0
  static std::atomic<std::uint64_t> last{0};
  thread_local const std::uint64_t mine = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return mine;
}

}  // namespace tyer::core
