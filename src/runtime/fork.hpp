// What belongs to the process that made it, and not to a child that came by fork.
#pragma once

#include "core/forks.hpp"

#include <cstdint>

namespace tyer::runtime {

// In which process something was made.
class birth {
 public:
  // True in a child: the thing came through fork, and belongs to the parent.
  bool forked() const noexcept { return core::fork_generation() != made_in_; }

  // For a thread of ours behind a callback. If that has forked and came back in the child too, the child ends here, as by _exit(0):
  // the work of this thread is the parent's, and the locks that it needs may be closed for ever.
  void end_the_child() const noexcept;

 private:
  std::uint64_t made_in_ = core::fork_generation();
};

}  // namespace tyer::runtime
