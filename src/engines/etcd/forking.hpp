// gRPC in a process that was forked.
#pragma once

namespace tyer::etcd {

// gRPC's threads do not come along, and what they held is held for ever: a client in such a child would only hang. The first
// call in a process says that gRPC is used from now on.
bool grpc_was_used_before_a_fork() noexcept;

}  // namespace tyer::etcd
