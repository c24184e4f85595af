// Where answers that need no server, and what was swept, wait for the thread in run().
#pragma once

#include "core/function.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace tyer::etcd {

// Thread safety: everything from any thread.
class inbox {
 public:
  using delivery = core::function<void()>;

  void put(delivery d) {
    const std::lock_guard lock{mutex_};
    if (!shut_) items_.push_back(std::move(d));
  }

  bool empty() const {
    const std::lock_guard lock{mutex_};
    return items_.empty();
  }

  std::vector<delivery> take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(items_, {});
  }

  // Whoever would have been delivered to is about to go.
  void shut() {
    std::vector<delivery> dropped;
    const std::lock_guard lock{mutex_};
    shut_ = true;
    dropped.swap(items_);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<delivery> items_;
  bool shut_ = false;
};

}  // namespace tyer::etcd
