// One resource: its holds, its queue of waiters, and the floor of its tokens.
//
// This is the reference model of what every engine does with a name. It is a plain value: no clock, no lock, no I/O.
// Time comes in as an argument, notifications go out as values.
//
//   an id is   nothing ──acquire──▶ holding                   it fits and nobody queues
//              nothing ──acquire──▶ waiting                   else, if it wants to queue
//              waiting ──its turn──▶ handed over              a hold, but only for waiter_ttl; it is woken
//              handed over ──acquire──▶ holding               the claim: same token part, full ttl
//              holding ──convert──▶ holding                   new token part; an upgrade may have to wait first
//              any ──release, evict, expiry──▶ nothing        whoever is at the head of the queue has its turn
//              holding ──expiry, evict, unclean release──▶ ghost   if it has a lock delay
//              ghost ──its delay is over, clean release──▶ nothing
//
// A ghost is gone for its owner, but stays in its place: an exclusive one keeps everybody out, a shared one keeps writers
// out, permits stay taken. A hand-over that nobody claimed was never used, so it leaves none.
//
// Every operation first reaps what has expired and gives the heads of the queue their turn, so an expired hold is gone
// even if nobody has taken the lock since.
//
// Fairness: first come, first served, over all modes. A try never overtakes the queue; a queued writer stops later
// readers; a waiter for many permits stops later waiters for few. Only an upgrade goes before the queue, because those
// in the queue wait for its shared hold.
#pragma once

#include "core/id.hpp"
#include "engine/engine.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tyer::memory {

using engine::answer;
using engine::fate;
using engine::id;
using engine::milliseconds;
using engine::mode;
using engine::request;
using engine::time_point;

template <class T>
using result = std::variant<T, engine::failure>;

// What somebody, usually at another client, must be told.
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
  std::uint32_t capacity = 65'536;  // permits are numbered, one by one
  milliseconds ttl{std::chrono::hours{24 * 366}};
  milliseconds tombstone_ttl{std::chrono::hours{24}};  // how long the floor of tokens outlives the last use

  // The clock never goes back. Then the floor need not be kept once the clock is past it: tokens count its microseconds.
  bool steady = false;
};

class resource {
 public:
  struct hold {
    id who;
    mode how = mode::exclusive;
    std::vector<std::uint32_t> slots;  // of permits: which of 0 … capacity-1
    std::uint64_t part = 0;
    time_point expires;
    milliseconds lock_delay{};
    std::string owner;
    bool claimed = true;     // false: handed over, and not heard of since
    bool upgrading = false;  // shared, and waits to be the only one
    bool ghost = false;
  };
  struct waiter {
    id who;
    mode how = mode::exclusive;
    std::uint32_t take = 1, capacity = 1;
    time_point expires;
    milliseconds waiter_ttl{}, lock_delay{};
    std::uint64_t seen = 0;
    std::string owner;
  };

  explicit resource(const limits& l = {}) : limits_(l) {}

  result<answer> acquire(const request&, time_point now, notices&);
  fate keep(const id&, fate as, milliseconds ttl, time_point now, notices&);
  fate release(const id&, bool clean, time_point now, notices&);
  result<answer> convert(const id&, mode to, time_point now, notices&);
  fate lift(const id&, std::uint64_t part, time_point now, notices&);
  std::uint32_t ask(std::string_view reason, time_point now, notices&);
  fate evict(const id&, std::string_view reason, time_point now, notices&);
  void reap(time_point now, notices&);

  // As of the last operation: what has expired since is still in them, and so are ghosts.
  const std::vector<hold>& holds() const noexcept { return holds_; }
  const std::deque<waiter>& queue() const noexcept { return queue_; }

  std::uint64_t last_part() const noexcept { return last_part_; }

  // Counts every change of who holds and who waits.
  std::uint64_t changes() const noexcept { return changes_; }

  // When nothing will be left of it, not even the floor of its tokens, if nobody touches it again.
  time_point forgotten_at() const noexcept;

 private:
  struct demand {
    mode how = mode::exclusive;
    std::uint32_t take = 1, capacity = 1;
  };
  static demand of(const request& r) noexcept { return {r.what.how, r.take, r.capacity}; }
  static demand of(const waiter& w) noexcept { return {w.how, w.take, w.capacity}; }

  bool fits(const demand&) const noexcept;
  bool passable() const noexcept;  // neither a queue nor an upgrade is in the way
  time_point free_at(demand) const;
  milliseconds left_to_wait(const demand&, time_point now) const;

  std::optional<engine::failure> objection(const request&) const;
  result<answer> again(hold&, const request&, time_point now);
  result<answer> again(std::size_t place, const request&, time_point now);
  answer place_in_queue(std::size_t place, time_point now) const;

  std::uint64_t next_part(std::uint64_t seen, time_point now) noexcept;
  std::vector<std::uint32_t> free_slots(std::uint32_t take) const;
  void add(hold, const demand&);
  void turn(time_point now, notices&);  // of the heads of the queue
  void hand_over(waiter, time_point now, notices&);
  void make_exclusive(hold&, time_point now);
  fate remove(const id&, bool clean, time_point now);
  void lay_ghost(const id&);

  hold* find_hold(const id&) noexcept;  // no ghost
  hold* find_upgrade() noexcept;
  std::optional<std::size_t> find_place(const id&) const noexcept;

  limits limits_;
  std::vector<hold> holds_;     // and ghosts, in the order they were granted
  std::deque<waiter> queue_;    // in the order they came
  std::uint32_t capacity_ = 0;  // of the permits that are held
  std::uint64_t last_part_ = 0;
  std::uint64_t changes_ = 0;
  time_point used_;
};

}  // namespace tyer::memory
