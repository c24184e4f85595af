// Deadlocks among processes: who waits for what the next one has, until it comes round.
#pragma once

#include "text/entries.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cli {

// A lock of one of the engines that were looked at. Its entries are in the order of the queue.
struct seen_lock {
  std::string engine;
  lock what;
};

// One process of a circle: it waits for a lock, and cannot have it before the next process does something: gives it back, or has its
// turn, if it stands before this one in the queue.
struct circle_step {
  std::size_t on = 0;             // which of the locks
  tyer::lock_entry waits, other;  // of this process, and of the next
};
using circle = std::vector<circle_step>;

// Each process is in one circle at most. A process that waits for itself is none: its threads contend. Whoever does not say
// which process it is (another library) is left out.
std::vector<circle> circles(const std::vector<seen_lock>& all);

// Those of `now` whose holds and places were all there before. They need not have been the same circles then: who has left since
// may have been part of others.
std::vector<circle> lasting(std::vector<circle> now, const std::vector<seen_lock>& before);

}  // namespace cli
