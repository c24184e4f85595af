// The locks of an engine in numbers.
#pragma once

#include "text/entries.hpp"

#include <chrono>
#include <cstddef>
#include <optional>

namespace cli {

struct tally {
  std::size_t held = 0;           // names with a holder; not those that --once-per keeps
  std::size_t waited_for = 0;     // names with a queue
  std::size_t waiters = 0;        // of all names together
  std::size_t longest_queue = 0;  // of one name
  // 0 if nobody holds or waits; nothing if somebody does, and not one of them says since when.
  std::optional<std::chrono::milliseconds> oldest_hold, longest_wait;
  bool complete = true;  // false: there are more locks than were read
};

tally count(const listing& seen);

}  // namespace cli
