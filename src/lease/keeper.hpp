// Decides which holds and waiters to renew, and when. Renewals are batched: one request carries hundreds of them.
//
// All entries with the same ttl and of the same kind are renewed after the same time, so they form a queue in the order
// they were last renewed; keeping it sorted costs nothing. When the first of a queue is due, everything due soon after
// it goes along in the same batch. Holds go before waiters.
//
// Names of different groups live on different servers, so a batch has names of one group, and batches under way are limited
// per group: a server that hangs delays only its own renewals.
#pragma once

#include "core/verdict.hpp"
#include "lease/list.hpp"
#include "lease/terms.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tyer::lease {

// What an entry of the keeper carries. A ticket derives from it.
struct kept {
  link<kept> place;
  time_point due{};
  std::uint32_t queue = 0;
  std::uint32_t group = 0;  // set it before add()
};

class keeper {
 public:
  struct batch {
    core::fate as;  // holding or waiting
    duration ttl;
    std::uint32_t group;
    std::vector<kept*> entries;  // taken out of the keeper; put each back with add() or retry(), or forget it
  };

  explicit keeper(std::size_t batch_max, std::size_t in_flight_max = 4)
      : batch_max_(batch_max), in_flight_max_(in_flight_max) {}

  // Renewed (or granted) by a request sent at `sent`: due again a third of the ttl later, a little earlier by `jitter`
  // (0 to 1), so that clients that started together do not stay together. If the engine has proven less than the ttl that it is
  // asked for, due a third of that later; if nothing, as after a failure.
  void add(kept& e, core::fate as, duration ttl, time_point sent, double jitter, duration proven = duration::max());
  // Reserves a queue: from now on none of these throws for such entries, unless there are many kinds at once.
  void make_room(core::fate as, duration ttl, std::uint32_t group = 0) { queue_for(as, ttl, renew_every(ttl), group); }
  // The renewal failed: due again soon.
  void retry(kept& e, core::fate as, duration ttl, time_point now);
  // Due at once.
  void hurry(kept& e, core::fate as, duration ttl);
  void remove(kept& e) noexcept;
  // After a reconnect: everything is due at once.
  void hurry_all() noexcept;

  // The next batch that is due and whose group is below its limit of batches under way; empty if there is none. Holds go
  // before waiters, so that no number of waiters delays a hold.
  batch take(time_point now);
  time_point next_due() const noexcept;
  void on_sent(std::uint32_t group) { ++in_flight_[group]; }
  void on_answered(std::uint32_t group) noexcept;
  std::size_t size() const noexcept;

 private:
  using entries = list<kept, &kept::place>;
  struct queue {
    core::fate as;
    duration ttl;
    duration interval;  // regular, shorter in steps, retry or zero: each is a queue of its own
    std::uint32_t group;
    entries waiting;
    std::size_t hurried = 0;  // the first `hurried` entries are due now, whatever their `due` says

    // When its first entry is due; only if there is one.
    time_point due() const noexcept { return hurried > 0 ? time_point::min() : waiting.front()->due; }
  };

  std::uint32_t queue_for(core::fate as, duration ttl, duration interval, std::uint32_t group);
  void put(kept& e, core::fate as, duration ttl, duration interval, time_point due);
  queue* most_urgent(time_point now) noexcept;

  bool is_full(std::uint32_t group) const noexcept;

  std::size_t batch_max_, in_flight_max_;
  std::vector<queue> queues_;
  std::unordered_map<std::uint32_t, std::size_t> in_flight_;  // batches, by group
};

}  // namespace tyer::lease
