// Where what gRPC's threads bring waits for the thread that is inside run().
#pragma once

#include "core/function.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

namespace tyer::etcd {

// Thread safety: everything from any thread; take() from one.
class inbox {
 public:
  using delivery = core::function<void()>;

  void put(delivery d) {
    {
      const std::lock_guard lock{mutex_};
      if (shut_) return;
      items_.push_back(std::move(d));
    }
    filled_.notify_one();
  }

  void wake() noexcept {
    {
      const std::lock_guard lock{mutex_};
      woken_ = true;
    }
    filled_.notify_one();
  }

  // Waits until there is something, or wake() was called, or the deadline. Takes all there is.
  std::vector<delivery> take(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock{mutex_};
    filled_.wait_until(lock, until, [this] { return woken_ || !items_.empty(); });
    woken_ = false;
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
  std::mutex mutex_;
  std::condition_variable filled_;
  std::vector<delivery> items_;
  bool woken_ = false, shut_ = false;
};

}  // namespace tyer::etcd
