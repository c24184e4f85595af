#include "checker/story.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <unordered_map>

namespace fault {

namespace {

[[noreturn]] void broken(const event& e, const char* what) {
  throw std::runtime_error{std::string{what} + " (pid " + std::to_string(e.pid) + ", worker " +
                           std::to_string(e.worker) + ", t " + std::to_string(e.t_ns) + ")"};
}

// Hears the lines of one file. Remembers positions, not pointers: the vectors of the story grow.
class teller {
 public:
  explicit teller(story& s) : s_(s) {}

  void hear(const event& e) {
    switch (e.what) {
      case op::attempt: return begin(e);
      case op::granted: return granted(e);
      case op::not_granted: answer(e).why = static_cast<miss>(e.outcome); return;
      case op::observed:
      case op::lost:
      case op::release: return looked(e);
      case op::write:
        s_.writes.push_back({e.t_ns, e.name, e.token, e.hold, static_cast<verdict>(e.outcome), e.how, e.slots});
        return;
      case op::stop: s_.stopped[e.pid].push_back({e.t_ns, never}); return;
      case op::cont: return end_of(s_.stopped[e.pid], e);
      case op::starved: s_.starved[e.pid].push_back({e.deadline_ns, e.t_ns}); return;
      case op::kill: s_.killed[e.pid] = e.t_ns; return;
      case op::away_begin: outages_[e.hold].push_back({{e.t_ns, never}, {e.token}}); return;
      case op::away_end: return end_of_outage(outages_[e.hold], e);
      case op::data_loss: s_.losses.push_back({e.t_ns, e.deadline_ns, e.outcome, {e.token}, e.pid}); return;
      case op::failover: s_.failovers.push_back({e.t_ns, {e.token}}); return;
      case op::hindered:
        s_.hindered.push_back({{e.t_ns, e.deadline_ns}, {e.token}, static_cast<std::uint32_t>(e.hold), e.outcome == 1});
        return;
      case op::leases_anew: s_.leases_anew.push_back(e.t_ns); return;
      case op::fault: ++s_.faults; return;
      case op::finish: s_.finish = e.t_ns; return;
      case op::asked:
      case op::answered:
      case op::given_up: s_.engine.push_back(e); return;
      case op::released:
      case op::none: return;
    }
    broken(e, "a line of unknown kind");
  }

  void end() {
    for (const auto& [number, pieces] : outages_) s_.away.insert(s_.away.end(), pieces.begin(), pieces.end());
  }

 private:
  void begin(const event& e) {
    if (!pending_.emplace(e.worker, s_.attempts.size()).second) broken(e, "an attempt inside an attempt");
    s_.attempts.push_back({.pid = e.pid,
                           .worker = e.worker,
                           .name = e.name,
                           .invoked = e.t_ns,
                           .how = e.how,
                           .permits = e.permits,
                           .flags = e.flags,
                           .converts = e.hold});
    if ((e.flags & is_conversion) == 0) return;
    // Whoever asks to be a reader has ended its work as a writer; whoever asks to be a writer goes on reading.
    if (e.how == mode::shared) end_of_mode(e, e.hold);
  }

  void end_of_mode(const event& e, std::uint64_t hold) {
    grant& g = grant_of(e, hold);
    g.release_invoked = std::min(g.release_invoked, e.t_ns);
  }

  grant& grant_of(const event& e, std::uint64_t hold) {
    const auto found = holds_.find(hold);
    if (found == holds_.end()) broken(e, "a look at a hold that was never granted");
    return s_.grants[found->second];
  }

  attempt& answer(const event& e) {
    const auto found = pending_.find(e.worker);
    if (found == pending_.end()) broken(e, "an answer without an attempt");
    attempt& a = s_.attempts[found->second];
    pending_.erase(found);
    a.returned = e.t_ns;
    return a;
  }

  void granted(const event& e) {
    attempt& a = answer(e);
    a.granted = true;
    if ((a.flags & is_conversion) != 0) end_of_mode(e, a.converts);
    if (!holds_.emplace(e.hold, s_.grants.size()).second) broken(e, "a hold that was granted twice");
    s_.grants.push_back({.pid = e.pid,
                         .worker = e.worker,
                         .name = e.name,
                         .hold = e.hold,
                         .token = e.token,
                         .invoked = a.invoked,
                         .returned = e.t_ns,
                         .first_deadline = e.deadline_ns,
                         .deadline = e.deadline_ns,
                         .how = e.how,
                         .permits = e.permits,
                         .capacity = e.capacity,
                         .flags = a.flags,
                         .slots = e.slots});
  }

  void looked(const event& e) {
    grant& g = grant_of(e, e.hold);
    g.deadline = std::max(g.deadline, e.deadline_ns);
    if (e.what == op::release) g.release_invoked = std::min(g.release_invoked, e.t_ns);
    const bool call = e.what == op::lost;
    g.looks.push_back({.at = e.t_ns,
                       .deadline = e.deadline_ns,
                       .valid = !call && (e.outcome & seen_valid) != 0,
                       .lost = call || (e.outcome & seen_lost) != 0,
                       .called = call && e.outcome == 0,
                       .token = e.token});
  }

  void end_of(std::vector<interval>& pieces, const event& e) {
    if (pieces.empty() || pieces.back().end != never) broken(e, "an end without a beginning");
    pieces.back().end = e.t_ns;
  }

  void end_of_outage(std::vector<outage>& pieces, const event& e) {
    if (pieces.empty() || pieces.back().time.end != never) broken(e, "an end without a beginning");
    pieces.back().time.end = e.t_ns;
  }

  story& s_;
  std::unordered_map<std::uint16_t, std::size_t> pending_;  // by worker
  std::unordered_map<std::uint64_t, std::size_t> holds_;    // by hold
  std::map<std::uint64_t, std::vector<outage>> outages_;    // by number
};

}  // namespace

story tell(const std::vector<std::vector<event>>& files) {
  story s;
  std::set<std::uint32_t> workers;
  for (const auto& lines : files) {
    // A pid that was used twice would give one process the pauses of another.
    const bool of_worker = !lines.empty() && (lines.front().what == op::attempt || lines.front().what == op::starved);
    if (of_worker && !workers.insert(lines.front().pid).second) {
      broken(lines.front(), "two processes with the same pid");
    }
    teller t{s};
    for (const event& e : lines) t.hear(e);
    t.end();
  }
  // A stop that was never continued ended with the process.
  for (auto& [pid, stops] : s.stopped) {
    if (!stops.empty() && stops.back().end == never && s.killed.contains(pid)) stops.back().end = s.killed[pid];
  }
  std::sort(s.away.begin(), s.away.end(), [](const auto& a, const auto& b) { return a.time.begin < b.time.begin; });
  std::sort(s.leases_anew.begin(), s.leases_anew.end());
  return s;
}

}  // namespace fault
