// The engine that somebody has started, and names that no other test has used.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

namespace contract {

inline std::string otel_uri() { return std::getenv("TYER_URI"); }

inline std::string otel_name() {
  static std::atomic<int> last = 0;
  return "otel/" + std::to_string(::getpid()) + '/' + std::to_string(++last);
}

}  // namespace contract
