#include "checker/checks.hpp"

#include <unordered_map>

namespace fault {

std::vector<breach> stale_accepted(const story& s) {
  struct seen {
    std::uint64_t token = 0, hold = 0;
  };
  std::unordered_map<std::uint16_t, seen> largest;
  std::vector<breach> found;
  // The verdicts of the resource are not believed: what it was shown, refused or not, counts as seen.
  for (const resource_write& w : s.writes) {
    seen& top = largest[w.name];
    const bool stale = w.token < top.token || (w.token == top.token && w.hold != top.hold);
    if (stale && w.answer == verdict::accepted) {
      found.push_back({w.at, "name " + std::to_string(w.name) + ": applied token " + std::to_string(w.token) +
                                 " of hold " + std::to_string(w.hold) + " after token " + std::to_string(top.token) +
                                 " of hold " + std::to_string(top.hold)});
    }
    if (w.token > top.token) top = {w.token, w.hold};
  }
  return found;
}

}  // namespace fault
