// What a lock is, apart from who wants it: made once for each lock object and shared by all its attempts.
#pragma once

#include "core/id.hpp"
#include "engine/engine.hpp"
#include "lease/terms.hpp"

#include <cstdint>
#include <string>

namespace tyer::runtime {

struct spec {
  std::string name;
  engine::mode how = engine::mode::exclusive;
  std::uint32_t take = 1, capacity = 1;
  std::chrono::milliseconds ttl{10000};
  std::chrono::milliseconds waiter_ttl{3000};
  std::uint32_t handoffs = 0;
  std::string owner;  // host, pid, label: the call site is added by each attempt
};

}  // namespace tyer::runtime
