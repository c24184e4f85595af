// Two rules.
//
// 1. Whoever still waits at `finish`, in a process that was not killed, waits for ever: every fault was healed a grace
//    time before.
// 2. A stretch of time in which somebody live waits for a name and nobody is granted it is measured without the time
//    the engine was away and without the time holders are known to have been in the way. What remains must not exceed
//
//      B = 2 ttl + waiter_ttl + 2 s, and for each possible holder ttl + waiter_ttl more, for at most four of them.
//
//    A possible holder is an attempt that ended without a proof that it was not granted: cancelled, timed out, failed,
//    or killed with its process. The engine may have given it the lock at that moment, and waits for it in vain. More
//    than four in a row, each hit in the very millisecond it was handed the lock, is not chance any more.
//
// Where the engine keeps what the dead have left for longer than a ttl (lingers_ns), that comes on top of every ttl here;
// and it may begin all of that anew (leases_anew).
//
// Live: the process is not stopped. When nobody live waits, the measure starts anew: a waiter that was stopped for
// longer than its waiter_ttl has lost its place.
//
// In the way: an exclusive holder; readers, while somebody waits to write; permits, when so few are left that not every
// waiter could have what it wants.
//
// A multi_mutex waits for one name after the other and nobody sees for which, so all of its names are judged as one,
// with three times B for the three queues it has to pass.
#include "checker/checks.hpp"
#include "checker/intervals.hpp"

#include <algorithm>
#include <map>

namespace fault {

namespace {

constexpr std::int64_t possible_holders_max = 4;
constexpr std::int64_t names_of_many = 3;
constexpr int many = -1;

struct holding {
  interval time;
  mode how;
  int permits, capacity;
};

struct of_name {
  std::vector<interval> waiting;
  std::vector<interval> writers;  // all that waited to write, live or not
  std::vector<holding> holders;
  int take_max = 1;                    // permits that somebody wanted at once
  std::vector<std::int64_t> granted;   // times of return
  std::vector<std::int64_t> possible;  // times from which there may be a holder nobody knows of
};

int key_of(std::uint16_t name, std::uint8_t flags) { return (flags & is_one_of_many) != 0 ? many : name; }

std::int64_t killed_at(const story& s, std::uint32_t pid) {
  const auto found = s.killed.find(pid);
  return found == s.killed.end() ? never : found->second;
}

void add_attempt(const attempt& a, const story& s, of_name& n) {
  static const std::vector<interval> not_once;
  const auto stops = s.stopped.find(a.pid);
  const std::int64_t end = std::min({a.returned, killed_at(s, a.pid), s.finish});
  const auto live = without({a.invoked, end}, stops == s.stopped.end() ? not_once : stops->second);
  n.waiting.insert(n.waiting.end(), live.begin(), live.end());
  if (a.how == mode::exclusive) n.writers.push_back({a.invoked, end});
  n.take_max = std::max<int>(n.take_max, a.permits);
  if (a.granted) {
    n.granted.push_back(a.returned);
  } else {
    n.possible.push_back(end);
  }
}

// The last moment at which the process could have sent a renewal.
std::int64_t last_ran(const story& s, std::uint32_t pid) {
  const std::int64_t end = std::min(killed_at(s, pid), s.finish);
  const auto stops = s.stopped.find(pid);
  if (stops == s.stopped.end()) return end;
  const bool stopped = !stops->second.empty() && stops->second.back().end >= end;
  return stopped ? std::min(end, stops->second.back().begin) : end;
}

// A lease that ran until then, begun anew as often as the engine did so before it was over.
std::int64_t begun_anew(std::int64_t end, const story& s, const limits& l) {
  for (const std::int64_t at : s.leases_anew) {
    if (at <= end) end = std::max(end, at + l.ttl_ns + l.lingers_ns);
  }
  return end;
}

void add_grant(const grant& g, const story& s, const limits& l, of_name& n) {
  // A released hold showed its last deadline at the release; one that went down with its process may have been renewed
  // since anybody looked.
  const bool gone_down = g.release_invoked == never;
  const std::int64_t expired = gone_down ? last_ran(s, g.pid) + l.ttl_ns : g.deadline + l.ttl_ns / 10;
  const std::int64_t left = begun_anew(expired + l.lingers_ns, s, l);
  n.holders.push_back({{g.returned, std::min(g.release_invoked, left)}, g.how, g.permits, g.capacity});
}

// The times at which so many permits are taken that somebody who wants `take_max` has to wait.
void add_full_times(const of_name& n, std::vector<interval>& out) {
  std::vector<std::pair<std::int64_t, int>> changes;
  int capacity = 0, taken = 0;
  for (const holding& h : n.holders) {
    if (h.how != mode::permit || h.time.begin >= h.time.end) continue;
    capacity = h.capacity;
    changes.emplace_back(h.time.begin, h.permits);
    changes.emplace_back(h.time.end, -h.permits);
  }
  std::sort(changes.begin(), changes.end());
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    taken += changes[i].second;
    if (taken + n.take_max > capacity) out.push_back({changes[i].first, changes[i + 1].first});
  }
}

std::vector<interval> in_the_way(const of_name& n) {
  std::vector<interval> times;
  const time_set writers{n.writers};
  for (const holding& h : n.holders) {
    if (h.how == mode::exclusive) times.push_back(h.time);
    if (h.how != mode::shared) continue;
    const auto& pieces = writers.pieces();
    auto w =
        std::partition_point(pieces.begin(), pieces.end(), [&](const interval& p) { return p.end <= h.time.begin; });
    for (; w != pieces.end() && w->begin < h.time.end; ++w) {
      times.push_back({std::max(w->begin, h.time.begin), std::min(w->end, h.time.end)});
    }
  }
  add_full_times(n, times);
  return times;
}

void check(int name, of_name& n, const story& s, const limits& l, std::vector<breach>& found) {
  std::vector<interval> excuses;
  for (const outage& o : s.away) {
    if (name == many || o.names.has(static_cast<std::uint16_t>(name))) excuses.push_back(o.time);
  }
  const auto held = in_the_way(n);
  excuses.insert(excuses.end(), held.begin(), held.end());
  const time_set excused{std::move(excuses)};
  const std::int64_t bound = name == many ? names_of_many * l.stuck_ns() : l.stuck_ns();
  std::sort(n.granted.begin(), n.granted.end());
  std::sort(n.possible.begin(), n.possible.end());

  const auto judge = [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t idle = end - begin - excused.measure(begin, end);
    if (idle <= bound) return;
    const std::int64_t one = l.ghost_ns();
    const auto ghosts = std::lower_bound(n.possible.begin(), n.possible.end(), end) -
                        std::lower_bound(n.possible.begin(), n.possible.end(), begin - one);
    if (idle <= bound + std::min<std::int64_t>(ghosts, possible_holders_max) * one) return;
    const std::string which = name == many ? "several at once" : "name " + std::to_string(name);
    found.push_back({begin, which + ": waiters and no grant from " + seconds(begin) + " to " + seconds(end) +
                                ", free for " + seconds(idle) + " s of it, " + std::to_string(ghosts) +
                                " possible holders"});
  };

  const time_set waiting{std::move(n.waiting)};
  for (const interval& stretch : waiting.pieces()) {
    std::int64_t begin = stretch.begin;
    for (auto g = std::lower_bound(n.granted.begin(), n.granted.end(), begin); g != n.granted.end() && *g < stretch.end;
         ++g) {
      judge(begin, *g);
      begin = *g;
    }
    judge(begin, stretch.end);
  }
}

}  // namespace

std::vector<breach> stuck(const story& s, const limits& l) {
  std::vector<breach> found;
  std::map<int, of_name> names;
  for (const attempt& a : s.attempts) {
    add_attempt(a, s, names[key_of(a.name, a.flags)]);
    if (a.returned != never || killed_at(s, a.pid) < s.finish || s.finish == never) continue;
    found.push_back({a.invoked, "name " + std::to_string(a.name) + ": pid " + std::to_string(a.pid) + " worker " +
                                    std::to_string(a.worker) + " has waited since " + seconds(a.invoked) +
                                    " and still did at the end, " + seconds(s.finish)});
  }
  for (const grant& g : s.grants) add_grant(g, s, l, names[key_of(g.name, g.flags)]);
  for (auto& [name, n] : names) check(name, n, s, l, found);
  return found;
}

}  // namespace fault
