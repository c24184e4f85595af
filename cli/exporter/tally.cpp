#include "exporter/tally.hpp"

#include "run/once.hpp"

#include <algorithm>

namespace cli {

namespace {

using std::chrono::milliseconds;

// Since the grant; where the engine does not say when that was, since it was asked for.
std::optional<milliseconds> time_held(const tyer::lock_entry& e) {
  const auto granted = held_for(e);
  return granted ? granted : asked_for(e);
}

}  // namespace

tally count(const listing& seen) {
  tally t;
  t.complete = seen.complete;
  for (const auto& l : seen.locks) {
    const auto waiters = waiting(l.all);
    t.waited_for += waiters > 0 ? 1 : 0;
    t.waiters += waiters;
    t.longest_queue = std::max(t.longest_queue, waiters);
    bool held = false;
    for (const auto& e : l.all) {
      if (e.waiting) {
        t.longest_wait = std::max(t.longest_wait, asked_for(e));  // what is not known is less than anything
      } else if (!once_per::is_memory(e)) {
        held = true;
        t.oldest_hold = std::max(t.oldest_hold, time_held(e));
      }
    }
    t.held += held ? 1 : 0;
  }
  if (t.held == 0) t.oldest_hold = milliseconds::zero();
  if (t.waiters == 0) t.longest_wait = milliseconds::zero();
  return t;
}

}  // namespace cli
