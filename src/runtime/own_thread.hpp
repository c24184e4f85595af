// Whether the calling thread is one of Tyer's own, on which a blocking call would wait for itself.
#pragma once

namespace tyer::runtime {

inline thread_local bool on_own_thread = false;

}  // namespace tyer::runtime
