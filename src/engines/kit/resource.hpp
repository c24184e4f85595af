// The one decider: who holds a name, who waits for it, and how acquire, keep, release and convert change that.
//
// A plain value: no clock, no lock, no I/O. Time comes in as an argument, notifications go out as values.
//
//   an id is   nothing ──acquire──▶ holding                   it fits and nobody queues
//              nothing ──acquire──▶ waiting                   else, if it wants to queue
//              waiting ──its turn──▶ handed over              a hold, but only for waiter_ttl; it is woken
//              handed over ──acquire──▶ holding               the claim: same token part, full ttl
//              holding ──convert──▶ holding                   new token part; an upgrade may have to wait first
//              any ──release, evict, expiry──▶ nothing        the head of the queue has its turn
//              holding ──expiry, evict, unclean release──▶ ghost   if it has a lock delay
//              ghost ──its delay is over, clean release──▶ nothing
//
// A ghost is gone for its owner, but still blocks others: an exclusive one blocks everybody, a shared one blocks writers,
// permits stay taken. A hand-over that was not claimed was never used, so it leaves no ghost.
//
// Every operation first removes what has expired and gives the heads of the queue their turn, so an expired hold is gone even
// if nobody has taken the lock since.
//
// Fairness: first come, first served, over all modes. A try never overtakes the queue; a queued writer stops later
// readers; a waiter for many permits stops later waiters for few. Only an upgrade goes before the queue, because those
// in the queue wait for its shared hold.
//
// memory:// keeps resources and operates on them. An engine whose names live at a server builds a resource from what it has
// read, for one operation, and writes the marked seats if nobody has written since (settle.hpp does this in the right order):
//
//   resource r{limits};                           // limits::stored
//   r.put(seat);                                  // each hold and, in the order of the queue, each place
//   r.skip(n);                                    // or: only the head of the queue was read, n more are behind it
//   auto said = r.acquire(request, now, told);
//   if (r.needs_all()) …                          // `said` means nothing: read the whole queue, decide again
//   if (!r.must_end().empty()) …                  // nor does it: end these leases at the server, read and decide again
//   if (r.dirty()) …                              // write: removed(), what is dirty() of holds() and queue(), last_part()
//   r.wrote(revision, parts);                     // the write is done: parts that depend on it are known now
//   if (r.turns_left()) …                         // reap() on a new read: more have their turn than one write may grant
//
// An id that is not in the part of the queue that was read counts as new. If it then has to wait, its place must be joined and
// not written: join creates a place only if it is absent. A try (no enqueue) by an id that waits among the unread is answered
// busy.
#pragma once

#include "core/id.hpp"
#include "engine/engine.hpp"
#include "engines/kit/calls.hpp"
#include "engines/kit/store_time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::kit {

using engine::answer;
using engine::fate;
using engine::id;
using engine::mode;
using engine::request;

// A message to a client, usually another one.
struct notice {
  enum class kind : std::uint8_t { wake, gone, asked };
  id who;
  kind what = kind::wake;
  std::string reason;
};
using notices = std::vector<notice>;

struct limits {
  std::size_t waiters = 100'000;
  std::size_t holds = 10'000;       // and ghosts
  std::uint32_t capacity = 65'536;  // each permit has a number
  milliseconds ttl{std::chrono::hours{24 * 366}};
  milliseconds tombstone_ttl{std::chrono::hours{24}};  // how long the floor of the tokens is kept after the last use

  // The clock never goes back. Then the floor need not be kept once the clock has passed it, since tokens count its
  // microseconds.
  bool steady = false;

  // The resource is built from a server's data: removed seats are remembered until wrote().
  bool stored = false;
  // Parts depend on the write: the number of the grant within the write, counted from the `parts` of wrote(). Else they count
  // microseconds.
  bool stamped_by_write = false;
  std::size_t turns = std::numeric_limits<std::size_t>::max();  // how many grants one write may contain
};

// One hold, ghost or place in the queue.
struct seat {
  enum class state : std::uint8_t { waiting, handed_over, holding, ghost };

  id who;
  mode how = mode::exclusive;
  state is = state::holding;
  bool upgrading = false;  // shared, and waits to become the only hold
  std::uint32_t take = 1, capacity = 1;
  std::vector<std::uint32_t> slots;  // of permits that are held: which of 0 … capacity-1
  std::uint64_t part = 0;            // of the token. While `pending`: the number of the grant within the coming write
  std::uint64_t seen = 0;            // request::seen, the largest part that its client knew
  store_time expires;
  milliseconds ttl{}, waiter_ttl{}, lock_delay{};
  std::string owner;
  std::string asked;  // the reasons of client::ask, and how often it was called
  std::uint32_t times_asked = 0;

  // The server's lease or session under which it lives, 0: none. When the seat has expired, that lease must be ended first:
  // only then can no renewal under way revive the hold. See must_end().
  std::int64_t lease = 0;
  std::int64_t created = 0, modified = 0;  // revisions, if the server has them

  bool fresh = false, dirty = false;  // fresh: to be created; dirty: to be written
  bool pending = false;               // its part is not known until it is written

  bool waits() const noexcept { return is == state::waiting; }
  bool claimed() const noexcept { return is == state::holding || is == state::ghost; }
  bool ghost() const noexcept { return is == state::ghost; }
};

failure too_many_wait(std::size_t limit);

class resource {
 public:
  explicit resource(const limits& l = {}) : limits_(l) {}

  result<answer> acquire(const request&, store_time now, notices&);
  fate keep(const id&, fate as, milliseconds ttl, store_time now, notices&);
  fate release(const id&, bool clean, store_time now, notices&);
  result<answer> convert(const id&, mode to, store_time now, notices&);
  fate lift(const id&, std::uint64_t part, store_time now, notices&);
  std::uint32_t ask(std::string_view reason, store_time now, notices&);
  fate evict(const id&, std::string_view reason, store_time now, notices&);
  void reap(store_time now, notices&);

  // What is wrong with a request in any state of the name.
  std::optional<failure> objection(const request&) const;

  // As of the last operation: seats that have expired since are still included, and so are ghosts.
  const std::vector<seat>& holds() const noexcept { return holds_; }
  const std::deque<seat>& queue() const noexcept { return queue_; }  // as far as it was read
  std::size_t waiting() const noexcept { return queue_.size() + unread_ + unread_at_end_; }
  seat* find(const id&) noexcept;  // a hold or a place, no ghost

  std::uint64_t last_part() const noexcept { return last_part_; }  // the floor: all later parts are above it

  // Counts every change of who holds and who waits.
  std::uint64_t changes() const noexcept { return changes_; }

  // When nothing is left of the name, not even the floor of its tokens, if nobody uses it again.
  store_time forgotten_at() const noexcept;

  // ---- with a server: what was read

  // As stored, or as an operation before has left it for the same write; places in the order of the queue.
  void put(seat);
  // `n` unread places follow. A seat that is put afterwards stands behind them: the place that has just joined. Skip those
  // behind it too.
  void skip(std::size_t n) { unread_at_end_ += n; }
  void put_floor(std::uint64_t part) { last_part_ = part; }
  // With stamped_by_write: a lower bound of the parts of the coming write. If the floor is above it, the parts are fixed before
  // the write.
  void put_next_part(std::uint64_t part) { next_part_ = part; }

  // ---- with a server: after an operation

  bool needs_all() const noexcept { return needs_all_; }
  const std::vector<std::int64_t>& must_end() const noexcept { return must_end_; }
  bool dirty() const noexcept;
  bool floor_dirty() const noexcept { return floor_dirty_; }
  // Stored seats that must be deleted, identified by `created`: their other members are the last state here, not the stored
  // one. An id that comes back in the same operation is also in holds() or queue(), as a fresh seat.
  const std::vector<seat>& removed() const noexcept { return removed_; }
  bool turns_left() const noexcept { return turns_left_; }
  // The marked seats were written at this revision. A pending part becomes its number counted from `parts`.
  void wrote(std::int64_t revision, std::uint64_t parts);

 private:
  struct demand {
    mode how = mode::exclusive;
    std::uint32_t take = 1, capacity = 1;
  };
  static demand of(const request& r) noexcept { return {r.what.how, r.take, r.capacity}; }
  static demand of(const seat& s) noexcept { return {s.how, s.take, s.capacity}; }

  bool fits(const demand&) const noexcept;
  bool passable() const noexcept;  // neither a queue nor an upgrade blocks it
  bool exhausted() const noexcept;
  store_time free_at(demand) const;
  milliseconds left_to_wait(const demand&, store_time now) const;

  result<answer> again(seat&, const request&, store_time now);
  answer place_in_queue(std::size_t place, store_time now) const;
  static void extend(seat&, store_time until) noexcept;

  void find_leases_to_end(store_time now);
  static void haunt(seat&) noexcept;  // makes it a ghost
  template <class Seats, class Which>
  std::size_t drop(Seats& all, Which gone);
  fate remove(const id&, bool clean, store_time now);
  void lay_ghost(const id&);

  void stamp(seat&, std::uint64_t seen, store_time now) noexcept;
  std::vector<std::uint32_t> free_slots(std::uint32_t take) const;
  void add(seat&&, store_time now);
  void turn(store_time now, notices&);  // gives the heads of the queue their turn
  bool head_is_unread() const noexcept;
  bool knows_all() const noexcept { return unread_ + unread_at_end_ == 0; }
  void line_up(seat&&);
  void make_exclusive(seat&, store_time now);

  seat* find_hold(const id&) noexcept;  // no ghost
  seat* find_upgrade() noexcept;
  std::optional<std::size_t> find_place(const id&) const noexcept;

  limits limits_;
  std::vector<seat> holds_;  // and ghosts, in the order they were granted
  std::deque<seat> queue_;   // in the order they came
  // Unread places of the queue: `unread_` of them after the first `unread_at_` places, and `unread_at_end_` at its end.
  std::size_t unread_ = 0, unread_at_ = 0, unread_at_end_ = 0;
  std::uint32_t capacity_ = 0;  // of the permits that are held
  std::uint64_t last_part_ = 0, next_part_ = 0;
  std::uint64_t changes_ = 0;
  store_time used_;

  std::vector<seat> removed_;
  std::vector<std::int64_t> must_end_;
  std::size_t granted_ = 0;  // grants since it was built
  bool needs_all_ = false, turns_left_ = false, floor_dirty_ = false;
};

}  // namespace tyer::kit
