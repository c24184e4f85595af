// A schedule: which entry is due when, with one time for each entry.
//
// A heap whose entries know their position, so that a time is changed or removed at once and no stale entry stays behind.
// admit() reserves the memory; after that nothing here allocates.
#pragma once

#include "lease/terms.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tyer::runtime {

// What an entry carries.
struct timed {
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

  lease::time_point when = lease::time_point::max();
  std::size_t at = nowhere;  // in the heap
};

template <class T>
class agenda {
 public:
  // Reserves memory for one more entry. If it throws, nothing has changed.
  void admit() {
    if (heap_.capacity() <= admitted_) heap_.reserve(std::max<std::size_t>(2 * admitted_, 16));
    ++admitted_;
  }
  void dismiss(T& x) noexcept {
    remove(x);
    --admitted_;
  }

  // Only for an admitted entry. time_point::max(): nothing is due.
  void set(T& x, lease::time_point when) noexcept {
    timed& t = x;
    if (when == lease::time_point::max()) return remove(x);
    if (t.at == timed::nowhere) {
      t.at = heap_.size();
      heap_.push_back(&x);
    }
    t.when = when;
    settle(t.at);
  }

  void remove(T& x) noexcept {
    timed& t = x;
    const std::size_t hole = t.at;
    if (hole == timed::nowhere) return;
    t.at = timed::nowhere;
    t.when = lease::time_point::max();
    T* last = heap_.back();
    heap_.pop_back();
    if (last == &x) return;
    put(hole, last);
    settle(hole);
  }

  // Removes and returns the next entry whose time has come; null if there is none.
  T* take_due(lease::time_point now) noexcept {
    if (heap_.empty() || when(0) > now) return nullptr;
    T* first = heap_.front();
    remove(*first);
    return first;
  }

  lease::time_point next() const noexcept { return heap_.empty() ? lease::time_point::max() : when(0); }
  std::size_t size() const noexcept { return heap_.size(); }

 private:
  lease::time_point when(std::size_t i) const noexcept { return static_cast<const timed*>(heap_[i])->when; }
  void put(std::size_t i, T* x) noexcept {
    heap_[i] = x;
    static_cast<timed*>(x)->at = i;
  }
  void swap(std::size_t a, std::size_t b) noexcept {
    T* const first = heap_[a];
    put(a, heap_[b]);
    put(b, first);
  }

  // Restores the heap order at i, after its time or its position has changed.
  void settle(std::size_t i) noexcept {
    for (std::size_t up = (i - 1) / 2; i > 0 && when(i) < when(up); i = up, up = (i - 1) / 2) swap(i, up);
    for (;;) {
      std::size_t least = i;
      for (const std::size_t down : {2 * i + 1, 2 * i + 2}) {
        if (down < heap_.size() && when(down) < when(least)) least = down;
      }
      if (least == i) return;
      swap(i, least);
      i = least;
    }
  }

  std::vector<T*> heap_;
  std::size_t admitted_ = 0;
};

}  // namespace tyer::runtime
