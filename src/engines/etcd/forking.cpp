#include "engines/etcd/forking.hpp"

#include <unistd.h>

namespace tyer::etcd {

bool grpc_was_used_before_a_fork() noexcept {
  static const pid_t used_in = ::getpid();
  return ::getpid() != used_in;
}

}  // namespace tyer::etcd
