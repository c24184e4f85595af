// One run: from a seed to a verdict.
#pragma once

#include "sim/bugs.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tyer::sim {

struct verdict {
  std::vector<std::string> violations;
  std::uint64_t hash = 0;  // of everything that happened
  std::uint64_t events = 0, grants = 0, handoffs = 0, conversions = 0, faults = 0, losses = 0, unknowns = 0, writes = 0,
                refused_writes = 0;

  bool clean() const noexcept { return violations.empty(); }
};

verdict simulate(std::uint64_t seed, bug planted = bug::none, bool trace = false);

}  // namespace tyer::sim
