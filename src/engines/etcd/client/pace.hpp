// How long the servers have taken lately for what needs a majority of them: the longest of the last two seconds, or of up to four.
#pragma once

#include "engine/engine.hpp"

#include <algorithm>
#include <chrono>

namespace tyer::etcd {

class pace {
 public:
  using time_point = engine::time_point;
  using duration = time_point::duration;

  void took(time_point now, duration d) {
    turn(now);
    latest_ = std::max(latest_, d);
  }
  duration slowest(time_point now) {
    turn(now);
    return std::max(latest_, before_);
  }

 private:
  void turn(time_point now) {
    if (now < turned_ + window) return;
    before_ = now < turned_ + 2 * window ? latest_ : duration{};
    latest_ = {};
    turned_ = now;
  }

  static constexpr std::chrono::seconds window{2};
  time_point turned_{};
  duration latest_{}, before_{};
};

}  // namespace tyer::etcd
