// What lies at etcd about one name, as the decider of all engines (kit::resource) sees it, and what it is to be written as.
//
// A plain value made from one read at one revision: no clock, no I/O. An operation makes a resource of the keys, lets it decide,
// and marks what it has changed; `locks/transactions.cpp` makes one guarded transaction of the marks, and if somebody was
// quicker, everything is done again on what is there then. So each step is a step from one true state to the next, whoever
// takes it.
//
// etcd's own:
//   - The order of the queue is the order of create revisions.
//   - A part of a token is made from the revision of the write that granted: revision * 128 + the place among those granted by
//     that write, so it grows whatever happens in between.
//   - Time stands still here. What is gone at the server is not in the read, and what this client knows to be overdue it drops
//     first; a hold lives by a lease, and is written again to live by a longer one.
#pragma once

#include "engine/engine.hpp"
#include "engines/etcd/keys.hpp"
#include "engines/etcd/rpc.pb.h"
#include "engines/kit/resource.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace tyer::etcd {

using engine::answer;
using engine::failure;
using engine::fate;
using engine::id;
using engine::milliseconds;
using engine::mode;
using engine::time_point;
using engine::why;
using kit::no;

inline constexpr std::uint64_t places_per_revision = 128;
inline constexpr std::size_t turns_per_write = 40, asked_per_write = 40;  // a transaction has at most 128 operations

// One key: a hold or a place in the queue.
struct seat {
  id who;
  pb::Record record;
  std::int64_t created = 0, modified = 0, lease = 0;
  bool dirty = false, removed = false, fresh = false;
  bool granted = false;                         // by the write to come: its part is not known yet
  id at;                                        // where it lies
  pb::Record::State was = pb::Record::WAITING;  // before it was marked

  bool waits() const { return record.state() == pb::Record::WAITING; }
  mode how() const { return static_cast<mode>(record.mode()); }
  std::uint64_t part() const;
  std::vector<std::uint32_t> slots() const { return {record.slots().begin(), record.slots().end()}; }
};

// The value of a key, and back. Nothing for what is not ours.
std::string write_value(const pb::Record&);
std::optional<pb::Record> read_value(const std::string&);
id who_is(const pb::Record&, const id& at);

class ledger {
 public:
  // From all keys of the name, as they were at a revision.
  static std::variant<ledger, failure> from(const keys&, const pb::RangeResponse&, std::int64_t revision);

  std::int64_t revision() const { return revision_; }
  // Later than that others may be gone though it was written: a write does not notice what was deleted since the read.
  std::int64_t read_at() const { return read_at_; }
  std::vector<seat>& seats() { return seats_; }
  const std::vector<seat>& seats() const { return seats_; }
  std::uint64_t floor() const { return floor_; }
  bool floor_is_dirty() const { return floor_dirty_; }
  bool dirty() const;

  seat* find(const id&);
  // Those in the queue, or those that hold, in order.
  std::vector<const seat*> queue() const;
  std::vector<const seat*> holds() const;

  struct wish {
    engine::request r;
    id at;                                             // where it sits, if it is new
    std::int64_t hold_lease = 0;                       // where a hold goes
    milliseconds hold_lease_ttl{}, place_lease_ttl{};  // the ttl, and the waiter ttl, as etcd grants them
    std::uint32_t waiters_max = 0;
    bool known =
        false;  // that it is mine, if it is: else it is written again, since it may be about to be deleted as it was
  };
  static std::optional<failure> objection(const engine::request&);  // what no state of the server could make right
  std::variant<answer, failure> acquire(const wish&);
  static pb::Record place(const wish&);  // in the queue, as acquire would write it
  bool is_too_far_back(const wish&) const;
  fate remove(const id&);
  std::variant<answer, failure> convert(const id&, mode to);
  // Who is asked by this write: of those that hold, but for who was asked already, no more than one may contain.
  std::vector<id> ask(std::string_view reason, const std::set<id>& already = {});

  void turn();                        // of the heads of the queue
  void wrote(std::int64_t revision);  // what was marked is at the server now
  bool somebody_waits() const;        // in the queue, or to be upgraded

  // All that is marked are claims of what was handed over: nobody else can have anything against them.
  bool only_claims() const;
  // All that is marked are permits that have their turn. As long as they wait as they did, nobody has come before them: whoever takes
  // permits gives the first in the queue its turn. And whoever has left meanwhile makes room.
  bool only_turns_of_permits() const;
  // If all that is marked is one new reader: another that was there already, or nobody. As long as that one is there as it was, nobody
  // can have become exclusive, so the new one may come in whatever else happens meanwhile.
  const seat* company_of_new_reader() const;
  // If all that is marked is one that leaves: of a reader another reader that stays, of a place the place before it, or nobody. As long
  // as that one is there as it was, it is nobody's turn because the other has left.
  const seat* company_of_one_that_leaves() const;

 private:
  kit::resource decider(std::size_t waiters_max = 0) const;
  template <class F>
  auto decide(F);
  seat& of(const kit::seat&);  // a decided one
  void keep_by_lease(kit::seat&, bool granted, const wish&);
  void mark(const kit::resource&);
  void mark(const kit::seat&);

  std::vector<seat> seats_;  // by create revision; new ones last
  std::uint64_t floor_ = 0;
  bool floor_dirty_ = false, floor_is_there_ = false;
  std::int64_t revision_ = 0, read_at_ = 0;
};

}  // namespace tyer::etcd
