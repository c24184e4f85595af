// The waiters of one client for one name: first come, first served, and only one of them stands for all at the engine.
//
// On release the hold may go straight to the next of them (a hand-off), a bounded number of times in a row, only while
// enough of the lease is left, and only to a waiter that came before the hold was last confirmed; then the engine's own
// queue has its turn. Each hand-off is a new hold with a larger token.
#pragma once

#include "core/token.hpp"
#include "lease/list.hpp"
#include "lease/tenure.hpp"

#include <algorithm>
#include <cstdint>

namespace tyer::lease {

struct waiting {
  link<waiting> place;
  time_point since{};  // when its caller asked
};

class local_queue {
 public:
  explicit local_queue(std::uint32_t handoffs_max) noexcept
      : handoffs_max_(std::min<std::uint32_t>(handoffs_max, core::handoffs_max)) {}

  void join(waiting& w) noexcept { line_.push_back(w); }
  void leave(waiting& w) noexcept { line_.erase(w); }
  waiting* front() const noexcept { return line_.front(); }
  bool empty() const noexcept { return line_.empty(); }
  std::size_t size() const noexcept { return line_.size(); }

  // A hold with the tenure `held`, handed off `so_far` times since its grant, is released at `now`: may the next in line
  // have it without asking the engine? Only if the engine has confirmed the hold since the waiter came. Otherwise the
  // engine may have lost its data, and granted the lock to somebody else who was done with it before the waiter even
  // asked: the waiter's token would be the smaller one.
  bool may_hand_off(const tenure& held, std::uint32_t so_far, time_point now) const noexcept {
    return !line_.empty() && so_far < handoffs_max_ && held.can_hand_off(now) &&
           line_.front()->since <= held.confirmed_at();
  }

 private:
  list<waiting, &waiting::place> line_;
  std::uint32_t handoffs_max_;
};

}  // namespace tyer::lease
