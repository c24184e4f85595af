#include "checker/checks.hpp"

#include <algorithm>

namespace fault {

namespace {

// A time in which the process could not run, and until when that excuses it.
struct excuse {
  std::int64_t begin, until;
};
using excuses = std::vector<excuse>;

const std::vector<interval>& of(const std::map<std::uint32_t, std::vector<interval>>& all, std::uint32_t pid) {
  static const std::vector<interval> not_once;
  const auto found = all.find(pid);
  return found == all.end() ? not_once : found->second;
}

excuses of_stops(const story& s, std::uint32_t pid, const limits& l) {
  excuses all;
  for (const interval& stop : of(s.stopped, pid)) {
    all.push_back({stop.begin, stop.end == never ? never : stop.end + l.resume_ns});
  }
  return all;
}

// What is woken late is behind with what it was to do by then: as long again, but no longer than after a stop.
excuses of_stops_and_starving(const story& s, std::uint32_t pid, const limits& l) {
  excuses all = of_stops(s, pid, l);
  for (const interval& late : of(s.starved, pid)) {
    all.push_back({late.begin, late.end + std::min(late.end - late.begin, l.resume_ns)});
  }
  std::sort(all.begin(), all.end(), [](const excuse& a, const excuse& b) { return a.begin < b.begin; });
  return all;
}

// By when lost() must have been requested for a deadline: by the deadline itself, unless the process could not run then
// (or had not until a moment ago), in which case a short time after it could run again.
std::int64_t due(std::int64_t deadline, const excuses& all) {
  std::int64_t limit = deadline;
  for (const excuse& e : all) {
    if (e.begin > limit) break;
    limit = std::max(limit, e.until);
  }
  return limit;
}

// Only the first breach of a hold is told: what follows from it is no news.
void check(const grant& g, const excuses& all, std::vector<breach>& found) {
  for (const look& k : g.looks) {
    if (k.at > g.release_invoked) continue;  // given back: nobody relies on it any more
    if (k.valid && k.at > k.deadline) {
      found.push_back({k.at, "valid() " + seconds(k.at - k.deadline) + " s after the deadline: " + describe(g)});
      return;
    }
    const bool told = k.lost && !k.called;  // by the time of the look; when exactly is not known
    if (told || k.at <= k.deadline || k.at <= due(k.deadline, all)) continue;
    const char* what = k.called ? "lost() " : "no lost() until at least ";
    found.push_back({k.at, what + seconds(k.at - k.deadline) + " s after the deadline: " + describe(g)});
    return;
  }
}

std::vector<breach> late(const story& s, const limits& l,
                         excuses (*excuses_of)(const story&, std::uint32_t, const limits&)) {
  std::vector<breach> found;
  std::map<std::uint32_t, excuses> by_pid;
  for (const grant& g : s.grants) {
    auto known = by_pid.find(g.pid);
    if (known == by_pid.end()) known = by_pid.emplace(g.pid, excuses_of(s, g.pid, l)).first;
    check(g, known->second, found);
  }
  return found;
}

}  // namespace

std::vector<breach> late_loss(const story& s, const limits& l) { return late(s, l, of_stops_and_starving); }

std::size_t starved(const story& s, const limits& l) { return late(s, l, of_stops).size() - late_loss(s, l).size(); }

}  // namespace fault
