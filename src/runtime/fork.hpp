// Detects whether an object came into this process by fork.
#pragma once

#include "core/forks.hpp"

#include <cstdint>

namespace tyer::runtime {

// Remembers in which process an object was made.
class birth {
 public:
  // True in a child: the thing came through fork, and belongs to the parent.
  bool forked() const noexcept { return core::fork_generation() != made_in_; }

  // Called by a thread of ours after a callback. If the callback has forked and returned in the child too, the child ends
  // here, as by _exit(0): the work of this thread belongs to the parent, and the mutexes that it needs may stay locked for
  // ever.
  void end_the_child() const noexcept;

 private:
  std::uint64_t made_in_ = core::fork_generation();
};

}  // namespace tyer::runtime
