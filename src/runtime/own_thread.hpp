// Whether the calling thread is one of Tyer's own, on which a blocking call would wait for itself.
#pragma once

#include "runtime/fork.hpp"

#include <cstdint>
#include <utility>

namespace tyer::runtime {

// A thread-local mark that does not survive a fork: in a forked child the only thread is none of Tyer's.
class thread_mark {
 public:
  constexpr thread_mark() noexcept = default;
  thread_mark& operator=(bool set) noexcept {
    set_in_ = set ? core::fork_generation() + 1 : 0;
    return *this;
  }
  explicit operator bool() const noexcept { return set_in_ != 0 && set_in_ == core::fork_generation() + 1; }

 private:
  std::uint64_t set_in_ = 0;
};

inline thread_local constinit thread_mark on_own_thread;

// While it lives, this thread counts as one of Tyer's own: it runs foreign code from inside our code, and that code must
// neither block on Tyer nor drive another engine.
class own_thread_scope {
 public:
  own_thread_scope() noexcept : before_(std::exchange(on_own_thread, true)) {}
  own_thread_scope(const own_thread_scope&) = delete;
  ~own_thread_scope() { on_own_thread = before_; }

 private:
  const thread_mark before_;
};

}  // namespace tyer::runtime
