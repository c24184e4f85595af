#include "engines/etcd/handover.hpp"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace tyer::etcd::handover {

#if defined(__SANITIZE_THREAD__)
void give(void* p) { __tsan_release(p); }
void take(void* p) { __tsan_acquire(p); }
#else
void give(void*) {}
void take(void*) {}
#endif

}  // namespace tyer::etcd::handover
