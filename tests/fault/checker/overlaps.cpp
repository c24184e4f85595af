#include "checker/windows.hpp"

namespace fault {

namespace {

std::vector<breach> pairs(const story& s, const limits& l, bool (*wrong)(const grant&, const grant&)) {
  std::vector<breach> found;
  each_window(s, s.losses, l, [&](const grant& g, std::span<const grant* const> beside) {
    for (const grant* o : beside) {
      if (wrong(*o, g)) found.push_back(overlap_of(s, *o, g));
    }
  });
  return found;
}

}  // namespace

std::vector<breach> overlaps(const story& s, const limits& l) {
  return pairs(s, l, [](const grant& a, const grant& b) { return a.how == mode::exclusive && b.how == a.how; });
}

std::vector<breach> double_grants(const story& s, const limits& l) {
  // What a loss that is nobody's failover excuses is none of it.
  std::vector<data_loss> failovers, others;
  for (const data_loss& loss : s.losses) {
    ((loss.how & lost_by_failover) != 0 ? failovers : others).push_back(loss);
  }
  std::vector<breach> found;
  each_window(s, others, l, [&](const grant& g, std::span<const grant* const> beside) {
    for (const grant* o : beside) {
      if (conflict(*o, g) && excused(*o, g, failovers, l)) found.push_back(overlap_of(s, *o, g));
    }
  });
  return found;
}

std::vector<breach> readers_beside_writer(const story& s, const limits& l) {
  // A permit beside an exclusive hold is no better than a reader beside one.
  return pairs(s, l,
               [](const grant& a, const grant& b) { return (a.how == mode::exclusive) != (b.how == mode::exclusive); });
}

}  // namespace fault
