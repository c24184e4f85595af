// Who is next: whoever lets go of an exclusive hold passes the lock on to the first of its line, and tells that one the rest of it.
// So a queue is read once for many hand-overs.
//
// A line is a stretch of the queue right behind the hold, all of them exclusive. Whoever comes later is behind all who are there,
// so nobody can come between; and one that has left, or was written anew, has another revision, which the hand-over compares.
#pragma once

#include "engines/etcd/ledger.hpp"

#include <optional>
#include <string>

namespace tyer::etcd {

// Behind the first in the queue. `more`: the ledger has only the oldest of the room.
pb::Line line_behind_next(const ledger&, bool more);

// The hold and the first of its line, as if they had been read; the first is taken from the line. Nothing: there is nobody in it.
struct own_hold {
  id who, at;
  std::int64_t created = 0, modified = 0, lease = 0;
};
std::optional<ledger> hold_and_next(const keys&, const std::string& name, const own_hold&, pb::Line&,
                                    std::int64_t revision);

// To the one that was handed the lock in this ledger. Not where tokens go on from a floor, which has to be read each time.
void tell_line(ledger&, const pb::Line&);

}  // namespace tyer::etcd
