// The checks: each takes the story and gives back every breach it finds. All of them are sweeps in O(n log n).
#pragma once

#include "checker/story.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace fault {

struct limits {
  std::int64_t ttl_ns = 1'000'000'000;
  std::int64_t waiter_ttl_ns = 500'000'000;  // what lock_options::waiter_ttl = 0 comes to for this ttl
  std::int64_t resume_ns = 50'000'000;       // lost() after a pause
  std::int64_t lingers_ns = 0;               // how much longer than that the engine keeps what the dead have left

  // How much before the end of the lease valid_until lies: the rule of the lease that docs/guarantees.md states.
  std::int64_t margin_ns() const { return std::max<std::int64_t>(10'000'000, ttl_ns / 20); }

  // How long a free lock may go without a grant while somebody waits and the engine answers.
  std::int64_t stuck_ns() const { return 2 * ttl_ns + waiter_ttl_ns + 3 * lingers_ns + 2'000'000'000; }
  // How long a hold can be in the way of which nobody knows: handed to somebody who never said so, or held in vain.
  std::int64_t ghost_ns() const { return ttl_ns + waiter_ttl_ns + 2 * lingers_ns; }
};

struct breach {
  std::int64_t at = 0;
  std::string words;
};

// The resource applied a write with a token after it had been shown a larger one, or the same one by another hold. A
// reader conflicts only with writers, a permit only with those that have one of its slots.
std::vector<breach> stale_accepted(const story&);

// A grant whose acquire was invoked after a conflicting one of the name had returned, with a token that is not larger;
// one token for two holds that conflict; a hold whose token changes while its mode does not.
// Two of the kind are excused, and counted here instead: tokens_lost, if the engine's counters were lost between the two
// (lost_with_tokens); tokens_crossed, if the later one is handed on inside a process, from a lease that was asked for
// before the other was granted, in a failover.
std::vector<breach> token_order(const story&, const limits& = {});
std::vector<breach> tokens_lost(const story&);
std::vector<breach> tokens_crossed(const story&, const limits& = {});
// How far the tokens of later grants of the engine ran backwards at the most, in its own measure (Redis: microseconds).
std::uint64_t backwards_max(const story&);

// Validity windows of one name that overlap: of two writers; of a reader and a writer; of more permits than there are,
// or of two holds with the same slot. Excused: a hold from before a loss of data with one from after it, until the last
// deadline that the lost state could have granted.
std::vector<breach> overlaps(const story&, const limits&);
std::vector<breach> readers_beside_writer(const story&, const limits&);
std::vector<breach> permits_over(const story&, const limits&);

// Pairs that would be in the counts above but for a failover, in which the engine may forget what it has granted.
std::vector<breach> double_grants(const story&, const limits&);

// For each failover, how long it took until somebody who asked after it was granted one of its names by the engine.
// Failovers without such a grant are left out.
std::vector<std::int64_t> failover_to_grant(const story&);

// lost() after valid_until while the process was runnable (or not at all), or more than `resume_ns` after it resumed;
// valid() true after valid_until, for which there is no excuse.
std::vector<breach> late_loss(const story&, const limits&);
// How many losses would be late but for the time in which the machine did not let the process run (its pulse says so),
// and as long again, at most `resume_ns`.
std::size_t starved(const story&, const limits&);

// Holds that were lost though nothing was in the way of keeping them: from the last renewal that was answered to the loss
// the servers of the name were there, with its data, and the process ran.
std::vector<breach> needless_loss(const story&, const limits&);

// Waiters that nobody serves: acquires that have not returned at `finish`, and free locks with a live waiter and no
// grant for too long.
std::vector<breach> stuck(const story&, const limits&);

// A ticket that the engine granted before one that conflicts with it, had stood in the queue before it came, and stood
// there still.
std::vector<breach> order(const story&);
// How many places in a queue were seen for long enough to be overtaken: without any, `order` has proved nothing.
std::size_t places_seen(const story&);

// "name 3 token 17 pid 812/4": for messages.
std::string describe(const grant&);
// " (stopped from 812.01 to 813.2, ...)": what was done to its process, and to the data it rests on, from its attempt to its
// end. Nothing: "".
std::string done_to(const story&, const grant&);
std::string seconds(std::int64_t ns);

}  // namespace fault
