// What ThreadSanitizer cannot see: gRPC's libraries are not compiled with it, so it does not know that what one thread gives
// to gRPC has been written before another thread gets it back. Nothing in other builds.
#pragma once

namespace tyer::etcd::handover {

void give(void*);
void take(void*);

}  // namespace tyer::etcd::handover
