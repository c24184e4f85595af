#include "checker/checks.hpp"

#include <algorithm>

namespace fault {

namespace {

// n of the token counts hand-offs inside a process, which need no engine.
bool by_the_engine(const grant& g) { return g.token % 256 == 0; }

}  // namespace

std::vector<std::int64_t> failover_to_grant(const story& s) {
  std::vector<std::int64_t> times;
  for (const failover& f : s.failovers) {
    std::int64_t first = never;
    for (const grant& g : s.grants) {
      if (g.invoked > f.at && f.names.has(g.name) && by_the_engine(g)) first = std::min(first, g.returned);
    }
    if (first != never) times.push_back(first - f.at);
  }
  return times;
}

}  // namespace fault
