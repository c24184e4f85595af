// One run: from a seed to a verdict.
#pragma once

#include "sim/etcd/plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tyer::sim::etcd {

struct verdict {
  std::vector<std::string> violations;
  std::uint64_t hash = 0, events = 0, calls = 0, grants = 0, conversions = 0, faults = 0;

  bool clean() const { return violations.empty(); }
};

verdict simulate(std::uint64_t seed, planted = {}, bool trace = false);

}  // namespace tyer::sim::etcd
