// The engine behind etcd://…?protocol=go: locks that lie in the server as those of Go's clientv3/concurrency and of
// `etcdctl lock` do, so that holders in C++ and in Go exclude each other and stand in one queue.
//
// Whoever has the key with the smallest create revision holds the lock; the others wait in that order, each for the key just
// before its own to go. Nobody hands over: being first is all there is. The create revision is the token.
//
// Go names a key after its session's lease, so two attempts of one session are one key, and both hold. Here no two attempts
// of a client on one name have a key named after the same lease.
//
// A key has a value here, which Go leaves empty and never reads: who it is, and what it was asked.
#pragma once

#include "engine/environment.hpp"
#include "engine/table.hpp"

namespace tyer::etcd::go {

engine::made make(core::uri& address, const engine::environment&);

}  // namespace tyer::etcd::go
