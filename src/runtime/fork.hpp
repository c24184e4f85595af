// Detects fork: counts the forks between the first process and this one.
#pragma once

#include <cstdint>

namespace tyer::runtime {

// The first call registers the handler; cheap afterwards.
std::uint64_t fork_generation() noexcept;

// Remembers in which process an object was made.
class birth {
 public:
  // True in a child: the thing came through fork, and belongs to the parent.
  bool forked() const noexcept { return fork_generation() != made_in_; }

  // Called by a thread of ours after a callback. If the callback has forked and returned in the child too, the child ends
  // here, as by _exit(0): the work of this thread belongs to the parent, and the mutexes that it needs may stay locked for
  // ever.
  void end_the_child() const noexcept;

 private:
  std::uint64_t made_in_ = fork_generation();
};

}  // namespace tyer::runtime
