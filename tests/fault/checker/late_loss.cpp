#include "checker/checks.hpp"

#include <algorithm>

namespace fault {

namespace {

// By when lost() must have been requested for a deadline: by the deadline itself, unless the process was stopped then
// (or had been until a moment ago), in which case a short time after it could run again.
std::int64_t due(const grant& g, std::int64_t deadline, const story& s, const limits& l) {
  const auto stops = s.stopped.find(g.pid);
  if (stops == s.stopped.end()) return deadline;
  std::int64_t limit = deadline;
  for (const interval& stop : stops->second) {
    if (stop.begin > limit) break;
    if (stop.end == never) return never;
    limit = std::max(limit, stop.end + l.resume_ns);
  }
  return limit;
}

// Only the first breach of a hold is told: what follows from it is no news.
void check(const grant& g, const story& s, const limits& l, std::vector<breach>& found) {
  for (const look& k : g.looks) {
    if (k.at > g.release_invoked) continue;  // given back: nobody relies on it any more
    if (k.valid && k.at > k.deadline) {
      found.push_back({k.at, "valid() " + seconds(k.at - k.deadline) + " s after the deadline: " + describe(g)});
      return;
    }
    const bool told = k.lost && !k.called;  // by the time of the look; when exactly is not known
    if (told || k.at <= k.deadline || k.at <= due(g, k.deadline, s, l)) continue;
    const char* what = k.called ? "lost() " : "no lost() until at least ";
    found.push_back({k.at, what + seconds(k.at - k.deadline) + " s after the deadline: " + describe(g)});
    return;
  }
}

}  // namespace

std::vector<breach> late_loss(const story& s, const limits& l) {
  std::vector<breach> found;
  for (const grant& g : s.grants) check(g, s, l, found);
  return found;
}

}  // namespace fault
