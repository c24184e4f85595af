#include "runtime/fork.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace tyer::runtime {

namespace {

// The only global of the library: fork concerns the whole process.
std::atomic<std::uint64_t> generation{0};

}  // namespace

std::uint64_t fork_generation() noexcept {
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
  return generation.load(std::memory_order_relaxed);
}

void birth::end_the_child() const noexcept {
  if (forked()) ::_exit(0);
}

}  // namespace tyer::runtime
