// All counters of one client. The coordinator reports events by calling the functions below; client::stats() copies the
// counters.
//
// Thread safety: the functions that count are called by one thread at a time; group(), read() and counts() may be called
// from any thread meanwhile. Functions that count do not allocate, fail or block.
#pragma once

#include "stats/cell.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::stats {

using std::chrono::nanoseconds;

// The counters of one group of locks. Each lock has a pointer to its group, so that counting needs no lookup.
struct group {
  std::string name;
  stats_by<acquire_end, histogram> acquire_duration;
  histogram hold_duration;
  stats_by<loss_reason, cell> losses;
  cell holds, waiters;
};

class board {
 public:
  // Groups with a name of their own; locks of others are counted together as `other`.
  static constexpr std::size_t groups_max = 64;
  static constexpr std::string_view other = "other";

  board() = default;
  board(const board&) = delete;

  // Switches counting on or off, to measure its cost. Only while nothing is held and nobody waits.
  void count(bool on) noexcept { counts_.store(on, std::memory_order_relaxed); }
  bool counts() const noexcept { return counts_.load(std::memory_order_relaxed); }

  // The group of this name, for as long as the board lives. May throw std::bad_alloc.
  group& group_of(std::string_view name);
  group& ungrouped() noexcept { return ungrouped_; }

  // ---- events

  void begins_to_wait(group& g) noexcept {
    if (counts()) g.waiters.add();
  }
  void waits_no_more(group& g) noexcept {
    if (counts()) g.waiters.take();
  }
  void acquire_ended(group& g, acquire_end how, nanoseconds took) noexcept {
    if (counts()) g.acquire_duration[how].add(took);
  }
  void hold_began(group& g) noexcept {
    if (counts()) g.holds.add();
  }
  void hold_ended(group& g, nanoseconds after, std::optional<loss_reason> lost) noexcept {
    if (!counts()) return;
    g.holds.take();
    g.hold_duration.add(after);
    if (lost) g.losses[*lost].add();
  }
  void renewal_left(nanoseconds late) noexcept {
    if (counts()) renewal_lag_.add(late);
  }
  void renewed(nanoseconds remaining) noexcept {
    if (!counts()) return;
    renewal_remaining_.add(remaining);
    remaining_min_.see(remaining);
  }
  void answered(engine_request what, request_end how, nanoseconds took) noexcept {
    if (counts()) request_duration_[what][how].add(took);
  }
  void turned_away(limit_set_by whom) noexcept {
    if (counts()) over_limit_[whom].add();
  }
  void came_back(reconnection as) noexcept {
    if (counts()) reconnects_[as].add();
  }

  client_stats read() const;

 private:
  std::atomic<bool> counts_{true};
  group ungrouped_;
  stats_by<engine_request, stats_by<request_end, histogram>> request_duration_;
  histogram renewal_lag_, renewal_remaining_;
  least remaining_min_;
  stats_by<reconnection, cell> reconnects_;
  stats_by<limit_set_by, cell> over_limit_;

  mutable std::mutex mutex_;  // protects the list, not the counters
  std::vector<std::unique_ptr<group>> named_;
  std::unique_ptr<group> other_;
};

}  // namespace tyer::stats
