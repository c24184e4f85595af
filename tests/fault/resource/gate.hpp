// The protected resource: applies a write unless it has been shown a larger token for the name.
#pragma once

#include "history/event.hpp"

#include <cstdint>
#include <unordered_map>

namespace fault {

// What a worker sends; the answer is one byte, the verdict.
struct offer {
  std::uint64_t token = 0, hold = 0;
  std::uint64_t name = 0;
};

class gate {
 public:
  // Equal tokens pass only for the hold that showed the token first.
  verdict show(const offer& o) {
    auto& largest = largest_[o.name];
    if (o.token < largest.token) return verdict::stale;
    if (o.token == largest.token && o.hold != largest.hold) return verdict::conflict;
    largest = o;
    return verdict::accepted;
  }

 private:
  std::unordered_map<std::uint64_t, offer> largest_;
};

}  // namespace fault
