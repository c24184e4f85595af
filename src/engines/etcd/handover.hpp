// What ThreadSanitizer cannot see: gRPC's libraries are not compiled with it, so it does not know that what one thread gives
// to gRPC has been written before another thread gets it back. Nothing in other builds.
//
// Tests of etcd under ThreadSanitizer need TSAN_OPTIONS=ignore_noninstrumented_modules=1 besides, for the library's own locks.
#pragma once

namespace tyer::etcd::handover {

void give(void*);
void take(void*);

}  // namespace tyer::etcd::handover
