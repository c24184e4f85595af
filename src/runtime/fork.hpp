// Noticing fork: how many forks lie between the first process and this one.
#pragma once

#include <cstdint>

namespace tyer::runtime {

// The first call registers the handler; cheap afterwards.
std::uint64_t fork_generation() noexcept;

// In which process something was made.
class birth {
 public:
  // True in a child: the thing came through fork, and belongs to the parent.
  bool forked() const noexcept { return fork_generation() != made_in_; }

  // For a thread of ours behind a callback. If that has forked and came back in the child too, the child ends here, as by _exit(0):
  // the work of this thread is the parent's, and the locks that it needs may be closed for ever.
  void end_the_child() const noexcept;

 private:
  std::uint64_t made_in_ = fork_generation();
};

}  // namespace tyer::runtime
