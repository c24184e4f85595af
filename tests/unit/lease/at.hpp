// Times for the tests of the lease: milliseconds after an arbitrary beginning.
#pragma once

#include "lease/terms.hpp"

namespace tyer::lease {

inline time_point at(duration since) { return time_point{1000s} + since; }

}  // namespace tyer::lease
