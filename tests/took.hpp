// Whether a call took the lock, for tests that want to know no more: a hold without a name is no condition, since it ends there.
#pragma once

#include <tyer/hold.hpp>
#include <tyer/multi_mutex.hpp>

namespace tyer {

inline bool took(const hold& h) { return static_cast<bool>(h); }
inline bool took(const multi_hold& h) { return static_cast<bool>(h); }

}  // namespace tyer
