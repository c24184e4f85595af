// A timer queue. An entry is never searched for: a stale one is recognised when it comes up, or removed by a sweep when
// stale entries outnumber the live ones.
#pragma once

#include "lease/terms.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace tyer::runtime {

template <class Key>
class timers {
 public:
  void at(lease::time_point when, Key key) {
    if (when == lease::time_point::max()) return;
    heap_.push_back({when, std::move(key)});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  // The next key whose time has come.
  std::optional<Key> pop_due(lease::time_point now) {
    if (heap_.empty() || heap_.front().when > now) return std::nullopt;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    std::optional<Key> key{std::move(heap_.back().key)};
    heap_.pop_back();
    return key;
  }

  // Drops the stale entries, but only when there are twice as many entries as the last sweep left: so the amortised cost is
  // small.
  template <class IsLive>
  void sweep(IsLive is_live) {
    if (heap_.size() < 2 * left_) return;
    std::erase_if(heap_, [&](const entry& e) { return !is_live(e.key); });
    std::make_heap(heap_.begin(), heap_.end(), later);
    left_ = std::max(heap_.size(), sweep_min);
  }

  lease::time_point next() const noexcept { return heap_.empty() ? lease::time_point::max() : heap_.front().when; }
  std::size_t size() const noexcept { return heap_.size(); }
  void clear() noexcept { heap_.clear(); }

 private:
  struct entry {
    lease::time_point when;
    Key key;
  };
  static bool later(const entry& a, const entry& b) noexcept { return a.when > b.when; }

  static constexpr std::size_t sweep_min = 512;

  std::vector<entry> heap_;
  std::size_t left_ = sweep_min;
};

}  // namespace tyer::runtime
