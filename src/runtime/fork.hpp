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

 private:
  std::uint64_t made_in_ = fork_generation();
};

}  // namespace tyer::runtime
