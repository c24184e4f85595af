// Detects whether an object came into this process by fork.
#pragma once

#include "core/forks.hpp"

#include <cstdint>
#include <memory>
#include <utility>

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

// A forked child does not have the threads of its parent: what one of them was changing stays half changed. So in a child this is
// never destroyed.
template <class T, class... Arguments>
std::shared_ptr<T> made_for_this_process(Arguments&&... with) {
  return {new T(std::forward<Arguments>(with)...), [born = birth{}](T* mine) {
            if (!born.forked()) delete mine;
          }};
}

}  // namespace tyer::runtime
