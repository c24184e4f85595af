// Figures of many measurements.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace cli {

class figures {
 public:
  explicit figures(std::vector<std::chrono::nanoseconds> all) : all_(std::move(all)) { std::ranges::sort(all_); }

  std::size_t count() const noexcept { return all_.size(); }

  // The quantile: `share` of all measurements are not above it. Needs at least one.
  std::chrono::nanoseconds at(double share) const {
    const auto i = static_cast<std::size_t>(share * static_cast<double>(all_.size()));
    return all_[std::min(i, all_.size() - 1)];
  }

 private:
  std::vector<std::chrono::nanoseconds> all_;
};

inline double as_ms(std::chrono::nanoseconds d) { return static_cast<double>(d.count()) / 1e6; }

}  // namespace cli
