// The terms of a lock: made once for each lock object and shared by all its attempts.
#pragma once

#include "core/id.hpp"
#include "engine/engine.hpp"
#include "lease/terms.hpp"

#include <cstdint>
#include <string>

namespace tyer::stats {
struct group;
}

namespace tyer::runtime {

struct spec {
  std::string name;
  engine::mode how = engine::mode::exclusive;
  std::uint32_t take = 1, capacity = 1;
  std::chrono::milliseconds ttl{10000};
  std::chrono::milliseconds waiter_ttl{3000};
  std::chrono::milliseconds lock_delay{0};
  std::chrono::milliseconds min_hold{0}, max_hold{0};  // of each hold; 0: none
  std::uint32_t handoffs = 0;
  std::string owner;                   // host, pid, label: the call site is added by each attempt
  std::string note;                    // lock_options::note
  stats::group* counted_in = nullptr;  // null: counted with the locks that have no group
};

}  // namespace tyer::runtime
