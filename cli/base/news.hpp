// Keeps the reports of an observation for the thread that waits for them.
#pragma once

#include "base/signals.hpp"
#include "text/entries.hpp"

#include <tyer/admin.hpp>

#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace cli {

class news {
 public:
  news(const tyer::admin& admin, const std::string& name, signals& bell, std::chrono::milliseconds every)
      : watching_(admin.watch(
            name,
            [this, &bell](const entries& all) {
              {
                const std::lock_guard lock{mutex_};
                if (untold_.size() == untold_max) untold_.pop_front();
                untold_.push_back(all);
              }
              bell.wake();
            },
            every)) {}

  // The oldest report that was not taken yet.
  std::optional<entries> take() {
    const std::lock_guard lock{mutex_};
    if (untold_.empty()) return std::nullopt;
    auto first = std::move(untold_.front());
    untold_.pop_front();
    return first;
  }

 private:
  // Whoever reads a pipe may stop to. Each report has the whole state: one that is left out is as if it had not been seen.
  static constexpr std::size_t untold_max = 64;

  std::mutex mutex_;
  std::deque<entries> untold_;
  tyer::observation watching_;  // ends before what it writes to
};

}  // namespace cli
