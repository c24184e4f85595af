// What the histories tell, put together: attempts, holds, writes and what was done to the processes and the engine.
#pragma once

#include "history/event.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace fault {

// Far enough, and a ttl can be added to it.
inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 4;

struct interval {
  std::int64_t begin = 0, end = never;
};

// One call of acquire or its kin.
struct attempt {
  std::uint32_t pid = 0;
  std::uint16_t worker = 0, name = 0;
  std::int64_t invoked = 0;
  std::int64_t returned = never;
  bool granted = false;
  miss why = miss::failed;  // if it returned without a grant
  mode how = mode::exclusive;
  std::uint8_t permits = 0;
  std::uint8_t flags = 0;      // `is_conversion`, `is_one_of_many`
  std::uint64_t converts = 0;  // the hold that is to change its mode
};

// One look at a hold, or the callback of its lost().
struct look {
  std::int64_t at = 0, deadline = 0;
  bool valid = false, lost = false;
  bool called = false;  // the callback of lost(), on the library's own thread
  std::uint64_t token = 0;
};

// One hold in one mode, from the return of acquire (or of the conversion) to its release (or to the next conversion).
struct grant {
  std::uint32_t pid = 0;
  std::uint16_t worker = 0, name = 0;
  std::uint64_t hold = 0, token = 0;
  std::int64_t invoked = 0, returned = 0;
  std::int64_t first_deadline = 0;       // valid_until at the return
  std::int64_t deadline = 0;             // the latest valid_until that was seen: renewals move it
  std::int64_t release_invoked = never;  // or converted; never: the process was killed with it
  std::vector<look> looks;               // all of them, also the one at release
  mode how = mode::exclusive;
  std::uint8_t permits = 0, capacity = 0;
  std::uint8_t flags = 0;  // of its attempt
  std::uint16_t slots = 0;

  // The validity window: what the holder could believe from here to there. Whoever downgrades has been a reader, and no
  // more than that, since it asked; everybody else only since it was answered.
  std::int64_t window_begin() const { return (flags & is_conversion) != 0 && how == mode::shared ? invoked : returned; }
  std::int64_t window_end() const { return std::min(release_invoked, deadline); }
};

// Two that must not have it at the same time.
inline bool conflict(const grant& a, const grant& b) {
  if (a.how == mode::permit && b.how == mode::permit) return (a.slots & b.slots) != 0;
  return a.how != mode::shared || b.how != mode::shared;
}

struct resource_write {
  std::int64_t at = 0;
  std::uint16_t name = 0;
  std::uint64_t token = 0, hold = 0;
  verdict answer = verdict::accepted;
  mode how = mode::exclusive;
  std::uint16_t slots = 0;
};

// Some names of those that the checker knows by number: one bit for each; none set: all of them.
struct some_names {
  std::uint64_t bits = 0;
  bool has(std::uint16_t name) const { return bits == 0 || (name < 64 && (bits >> name & 1) != 0); }
};

// What was granted before `old_until` may be forgotten; what was granted before `new_from` is not of the new state.
struct data_loss {
  std::int64_t new_from = 0, old_until = 0;
  std::uint8_t how = 0;  // bits of `lost_by`
  some_names names;
  std::uint32_t pid = 0;  // only what this process had; 0: everybody's

  bool concerns(const grant& g) const {
    return (how & lost_places) == 0 && names.has(g.name) && (pid == 0 || pid == g.pid);
  }
};

// Requests could be without an answer, though the engine was there.
struct hindrance {
  interval time;
  some_names names;
  std::uint32_t pid = 0;  // only those of this process; 0: everybody's
  bool for_life = false;  // instead: holds of that time may have one server less ever since
};

struct outage {
  interval time;
  some_names names;
};

struct failover {
  std::int64_t at = 0;
  some_names names;
};

struct story {
  std::vector<attempt> attempts;
  std::vector<grant> grants;
  std::vector<resource_write> writes;                      // in the order the resource saw them
  std::map<std::uint32_t, std::vector<interval>> stopped;  // by pid, in order of time
  std::map<std::uint32_t, std::vector<interval>> starved;  // by pid: the machine did not let it run
  std::map<std::uint32_t, std::int64_t> killed;            // by pid
  std::vector<data_loss> losses;
  std::vector<outage> away;
  std::vector<failover> failovers;
  std::vector<hindrance> hindered;
  std::vector<std::int64_t> leases_anew;  // in order of time
  std::vector<event> engine;              // what the proxy saw of the engine's queues: asked, answered, given_up
  std::int64_t finish = never;
  std::uint64_t faults = 0;
};

// Throws std::runtime_error if the lines contradict each other (an answer without an attempt, one pid in two files):
// then the lab is broken, and no verdict may be given.
story tell(const std::vector<std::vector<event>>& files);

}  // namespace fault
