// The engine behind redis://…?protocol=redisson: locks that lie in the server as those of Redisson's RLock do, so that holders
// in C++ and in Java exclude each other.
//
// There is no queue: whoever finds the lock taken is answered `busy` with what is left of the lease, and is woken by the
// channel on which Redisson says that a name is free. Not `queued`: that would be a promise of a place that nobody keeps. So
// a waiter is nothing in the server, costs no keep, and one that dies leaves nothing behind. The lease's machine rests
// meanwhile, and asks again when it is woken, when the lease may be over, and after waiter_ttl, should a message be lost.
//
// There is no token either, nothing is said about the owner, and a hold is never handed on inside a client.
#pragma once

#include "engine/environment.hpp"
#include "engine/table.hpp"
#include "engines/redis/config.hpp"

namespace tyer::redis::redisson {

engine::made make(core::uri& address, const engine::environment&);

}  // namespace tyer::redis::redisson
