// The wait between two tries: short first, doubling, bounded.
#pragma once

#include "lease/terms.hpp"

namespace tyer::lease {

class backoff {
 public:
  duration next() noexcept {
    const duration now = wait_;
    wait_ = std::min(wait_ * 2, longest);
    return now;
  }
  void reset() noexcept { wait_ = shortest; }
  bool waiting() const noexcept { return wait_ != shortest; }  // something has failed since the last reset

 private:
  static constexpr duration shortest = 10ms;
  static constexpr duration longest = 500ms;
  duration wait_ = shortest;
};

}  // namespace tyer::lease
