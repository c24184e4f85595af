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
  miss how = miss::failed;  // if it returned without a grant
};

// One look at a hold, or the callback of its lost().
struct look {
  std::int64_t at = 0, deadline = 0;
  bool valid = false, lost = false;
  bool called = false;  // the callback of lost(), on the library's own thread
};

// One hold, from the return of acquire to its release.
struct grant {
  std::uint32_t pid = 0;
  std::uint16_t worker = 0, name = 0;
  std::uint64_t hold = 0, token = 0;
  std::int64_t invoked = 0, returned = 0;
  std::int64_t first_deadline = 0;       // valid_until at the return
  std::int64_t deadline = 0;             // the latest valid_until that was seen: renewals move it
  std::int64_t release_invoked = never;  // never: the process was killed with it
  std::vector<look> looks;               // all of them, also the one at release

  // The validity window: the holder could believe itself alone from `returned` to here.
  std::int64_t window_end() const { return std::min(release_invoked, deadline); }
};

struct resource_write {
  std::int64_t at = 0;
  std::uint16_t name = 0;
  std::uint64_t token = 0, hold = 0;
  verdict answer = verdict::accepted;
};

// What was granted before `old_until` may be forgotten; what was granted before `new_from` is not of the new state.
struct data_loss {
  std::int64_t new_from = 0, old_until = 0;
};

struct story {
  std::vector<attempt> attempts;
  std::vector<grant> grants;
  std::vector<resource_write> writes;                      // in the order the resource saw them
  std::map<std::uint32_t, std::vector<interval>> stopped;  // by pid, in order of time
  std::map<std::uint32_t, std::int64_t> killed;            // by pid
  std::vector<data_loss> losses;
  std::vector<interval> away;
  std::int64_t finish = never;
  std::uint64_t faults = 0;
};

// Throws std::runtime_error if the lines contradict each other (an answer without an attempt, one pid in two files):
// then the lab is broken, and no verdict may be given.
story tell(const std::vector<std::vector<event>>& files);

}  // namespace fault
