// A hold lives from renewal to renewal, so a loss has its cause between the last one that was answered and the loss. That
// one was sent when the lease of the last deadline began: ttl - margin before `valid_until`, or a little later. From then
// on the client had a connection, and the engine knew of the hold. If since then
//
//  - the engine was there for the name all the time and had been for a while (after an outage a client takes its time
//    between attempts, and goes on so if its connection ends again soon), and no answer was lost by our doing,
//  - where a majority of servers has a hold, all of them had it when the one trouble of its life began: it was not asked for
//    in another one, nor while clients were still on their way back to the server of that one,
//  - nothing of the name was lost, and no server with it replaced,
//  - the process was not stopped, and the machine let it run for most of the time,
//
// nothing was left that could have taken the hold from its owner but the library.
#include "checker/checks.hpp"
#include "checker/intervals.hpp"

#include <algorithm>

namespace fault {

namespace {

bool meet(const interval& a, const interval& b) { return a.begin <= b.end && b.begin <= a.end; }

// How much of a ttl the machine may be busy with others: three renewals are due in it.
constexpr std::int64_t busy_part = 5;
constexpr std::int64_t wary_ns = 2'000'000'000;

class trial {
 public:
  trial(const story& s, const limits& l) : s_(s), limits_(l) {
    for (const auto& [pid, pieces] : s.starved) starved_.emplace(pid, pieces);
  }

  // Since when the loss must have had a cause.
  interval cause_of(const look& loss) const { return {std::min(loss.at, loss.deadline) - limits_.ttl_ns, loss.at}; }

  bool excused(const grant& g, const interval& time) const {
    const auto out = [&](const outage& o) { return interval{o.time.begin, o.time.end + wary_ns}; };
    return std::ranges::any_of(s_.away, [&](const outage& o) { return o.names.has(g.name) && meet(out(o), time); }) ||
           std::ranges::any_of(s_.hindered, [&](const hindrance& h) { return hinders(h, g, time); }) ||
           std::ranges::any_of(s_.losses,
                               [&](const data_loss& d) { return d.concerns(g) && meet(time_of(d), time); }) ||
           stopped(g.pid, time) || busy(g.pid, time);
  }

 private:
  static interval time_of(const data_loss& d) {
    const auto [first, last] = std::minmax(d.new_from, d.old_until);
    return {first, last};
  }
  static bool hinders(const hindrance& h, const grant& g, const interval& time) {
    if (!h.names.has(g.name) || (h.pid != 0 && h.pid != g.pid)) return false;
    if (!h.for_life) return meet(h.time, time);
    return g.invoked <= h.time.end + wary_ns && (time.end > h.time.end || g.returned >= h.time.begin);
  }
  bool stopped(std::uint32_t pid, const interval& time) const {
    const auto stops = s_.stopped.find(pid);
    return stops != s_.stopped.end() &&
           std::ranges::any_of(stops->second, [&](const interval& stop) { return meet(stop, time); });
  }
  bool busy(std::uint32_t pid, const interval& time) const {
    const auto late = starved_.find(pid);
    return late != starved_.end() && late->second.measure(time.begin, time.end) > limits_.ttl_ns / busy_part;
  }

  const story& s_;
  const limits& limits_;
  std::map<std::uint32_t, time_set> starved_;
};

}  // namespace

std::vector<breach> needless_loss(const story& s, const limits& l) {
  std::vector<breach> found;
  const trial judge{s, l};
  for (const grant& g : s.grants) {
    const auto loss = std::ranges::find_if(g.looks, [&](const look& k) { return k.lost && k.at <= g.release_invoked; });
    if (loss == g.looks.end() || judge.excused(g, judge.cause_of(*loss))) continue;
    const bool ran_out = loss->at >= loss->deadline - 2 * l.margin_ns();  // lost() is a little early
    const char* how = ran_out ? "ran out: " : "taken away: ";
    found.push_back({loss->at, how + describe(g) + ", lost at " + seconds(loss->at)});
  }
  return found;
}

}  // namespace fault
