// Sets of time: sorted intervals that do not touch.
#pragma once

#include "checker/story.hpp"

#include <cstdint>
#include <vector>

namespace fault {

class time_set {
 public:
  time_set() = default;
  explicit time_set(std::vector<interval> pieces);  // in any order, overlapping or not; empty ones vanish

  const std::vector<interval>& pieces() const { return pieces_; }

  // How much of [begin, end) lies inside. O(log n).
  std::int64_t measure(std::int64_t begin, std::int64_t end) const;

 private:
  std::int64_t before(std::int64_t t) const;

  std::vector<interval> pieces_;
  std::vector<std::int64_t> sums_;  // total length of the pieces before each one
};

// The parts of one interval outside some sorted ones.
std::vector<interval> without(interval whole, const std::vector<interval>& holes);

}  // namespace fault
