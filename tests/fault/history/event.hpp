// One line of a history: who did what to which lock, when, and how it ended.
//
// One host, one clock: every time in every file is CLOCK_BOOTTIME in nanoseconds, so times of different processes can
// be compared. The layout is shared with tools/lib/faults/history.py.
#pragma once

#include <cstdint>
#include <ctime>

namespace fault {

enum class op : std::uint8_t {
  none = 0,  // a line that was begun, and cut off by kill -9

  // A worker. Each one does one thing after the other: attempt, its answer, then (if granted) the life of the hold.
  attempt = 1,      // acquire, or one of its kin, is about to be called
  granted = 2,      // it returned a hold; deadline_ns: valid_until
  not_granted = 3,  // it returned none; outcome: `miss`; token: the tyer::errc if there was one
  observed = 4,     // a look at the hold; outcome: bits of `seen`; deadline_ns: valid_until
  lost = 5,  // the callback of lost() runs; outcome 1: inside its own registration, so the time is not that of the loss
  release = 6,   // release is about to be called; outcome and deadline_ns as in observed
  released = 7,  // it returned; outcome: tyer::release_outcome

  // The resource.
  write = 8,  // in the order it was shown; outcome: `verdict`

  // What was done to them.
  stop = 9,         // just before SIGSTOP to pid (here and below the pid it was done to)
  cont = 10,        // just after SIGCONT to pid
  kill = 11,        // just before kill -9 of pid
  away_begin = 12,  // just before the engine became unreachable; hold: number of the outage, since outages may overlap;
                    // token: the names, as in data_loss
  away_end = 13,    // just after it answered again
  data_loss =
      14,       // t_ns: nothing of the new state existed before; deadline_ns: nothing of the old state was made after;
                // outcome: bits of `lost_by`; token: one bit for each name that it concerns, 0: all of them;
                // pid: only what this process had, 0: everybody's
  fault = 15,   // any fault that was done, for the count
  finish = 16,  // faults were healed a grace time ago: whoever still waits now, waits for ever

  // The proxy, about the engine's own queue; hold: the ticket (the id of the attempt), how: its mode. An answer is
  // written down even if it is dropped: the engine has acted.
  asked = 17,     // an acquire arrived from its client, and goes on to the engine
  answered = 18,  // t_ns: the answer was read; deadline_ns: its request arrived; outcome: `standing`
  given_up = 19,  // a release arrived, and goes on to the engine

  // The pulse of a worker process.
  starved = 20,  // the machine did not let it run from deadline_ns to t_ns

  failover = 21,  // the master of these names (token, as in data_loss) was just killed, or told to step down

  leases_anew = 22,  // just after the engine let every lease begin anew: what the dead have left stays as much longer

  hindered =
      23,  // from t_ns to deadline_ns the engine was there, but a request could be without its answer; token: the
           // names, as in data_loss; hold: only those of this pid, 0: everybody's; outcome 1:
           // instead, one of the servers that a hold needs most of may know nothing of it ever since
};

enum class miss : std::uint8_t { empty = 0, cancelled = 1, failed = 2 };
enum class verdict : std::uint8_t { accepted = 0, stale = 1, conflict = 2 };
enum class mode : std::uint8_t { exclusive = 0, shared = 1, permit = 2 };

// What the engine says about a ticket. waiting: `token` is how long the place is good without another word (ns).
// granted: `token` is the engine's part of the token.
enum class standing : std::uint8_t { waiting = 0, granted = 1, gone = 2 };

// Bits of `outcome` in observed and release.
inline constexpr std::uint8_t seen_valid = 1;  // valid() was true
inline constexpr std::uint8_t seen_lost = 2;   // lost() was requested

// Bits of `outcome` in data_loss.
inline constexpr std::uint8_t lost_by_failover = 1;  // what the engine cannot prevent: counted, not just excused
inline constexpr std::uint8_t lost_with_tokens = 2;  // tokens may be given again
inline constexpr std::uint8_t lost_places = 4;       // only places in queues: no hold is concerned

// Bits of `flags` in attempt.
inline constexpr std::uint8_t is_conversion = 1;   // an upgrade or downgrade of `hold`; granted: under a new number
inline constexpr std::uint8_t is_one_of_many = 2;  // of a multi_mutex: all of them or none, one after the other

struct event {
  std::int64_t t_ns = 0;
  std::int64_t deadline_ns = 0;
  std::uint64_t token = 0;
  std::uint64_t hold = 0;  // unique in the run: pid << 32 | serial
  std::uint32_t pid = 0;
  std::uint16_t worker = 0;
  std::uint16_t name = 0;
  op what = op::none;
  std::uint8_t outcome = 0;
  mode how = mode::exclusive;
  std::uint8_t permits = 0, capacity = 0;  // of a permit; asked for, or (granted, write) what it got
  std::uint8_t flags = 0;
  std::uint16_t slots = 0;  // of a permit: one bit for each
};
static_assert(sizeof(event) == 48);

struct history_header {
  char magic[8] = {'T', 'Y', 'E', 'R', 'H', 'I', 'S', 'T'};
  std::uint32_t version = 3;
  std::uint32_t event_bytes = sizeof(event);
  std::uint64_t capacity = 0;
  std::uint64_t next = 0;  // lines taken; the last few may be unfinished
  std::uint8_t reserved[32] = {};
};
static_assert(sizeof(history_header) == 64);

inline std::int64_t now_ns() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace fault
