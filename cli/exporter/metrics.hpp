// What `tyer exporter` shows, as Prometheus reads it.
#pragma once

#include "exporter/tally.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cli {

struct engine_look {
  // What each prefix has; nothing if the engine did not answer.
  std::optional<std::vector<std::pair<std::string, tally>>> by_prefix;
  std::chrono::milliseconds took{};
  std::chrono::system_clock::time_point at;
};

struct look_counts {
  std::uint64_t answered = 0, failed = 0;
};

std::string metrics_text(const engine_look& last, const look_counts& looks);

}  // namespace cli
