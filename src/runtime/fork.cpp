#include "runtime/fork.hpp"

#include <unistd.h>

namespace tyer::runtime {

void birth::end_the_child() const noexcept {
  if (forked()) ::_exit(0);
}

}  // namespace tyer::runtime
