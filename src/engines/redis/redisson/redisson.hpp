// The engine behind redis://…?protocol=redisson, on one server, Sentinel or Cluster: locks are stored as Redisson's RLock
// stores them, so that holders in C++ and in Java exclude each other.
//
// There is no queue: a client that finds the lock taken is answered `busy` with the rest of the lease, and is woken by the
// channel on which Redisson announces that a name is free. The answer is not `queued`, since that would promise a place
// that does not exist. So a waiter stores nothing in the server, needs no keep, and leaves nothing behind when it dies. The
// acquire machine rests meanwhile, and asks again when it is woken, when the lease may be over, and after waiter_ttl, in
// case a message was lost.
//
// There is no token either, no owner is stored, and a hold is never handed off inside a client.
#pragma once

#include "engine/environment.hpp"
#include "engine/table.hpp"
#include "engines/redis/config.hpp"

namespace tyer::redis::redisson {

engine::made make(core::uri& address, const engine::environment&);

}  // namespace tyer::redis::redisson
