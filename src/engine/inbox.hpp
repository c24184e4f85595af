// Where answers and events wait for the thread that is inside run().
#pragma once

#include "core/function.hpp"
#include "engine/engine.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace tyer::engine {

// Called with the engine's events, or with null when no more events may be sent.
using delivery = core::function<void(events*)>;

// Thread safety: everything from any thread; take() from one.
//
// An engine that also waits for sockets derives its own inbox, which waits for both.
class inbox {
 public:
  virtual ~inbox() = default;

  using deadline = std::optional<std::chrono::steady_clock::time_point>;  // none: waits without a limit

  // May throw std::bad_alloc, which a thread of the engine must catch.
  virtual void put(delivery d) {
    {
      const std::lock_guard lock{mutex_};
      if (shut_) return;
      items_.push_back(std::move(d));
    }
    filled_.notify_one();
  }

  virtual void wake() noexcept {
    {
      const std::lock_guard lock{mutex_};
      woken_ = true;
    }
    filled_.notify_one();
  }

  // Waits until there is something, or wake() was called, or the deadline. Takes all there is.
  virtual std::vector<delivery> take(deadline until) {
    std::unique_lock lock{mutex_};
    const auto ready = [this] { return woken_ || !items_.empty(); };
    if (until) {
      filled_.wait_until(lock, *until, ready);
    } else {
      filled_.wait(lock, ready);
    }
    woken_ = false;
    return std::exchange(items_, {});
  }

  // Without waiting, for one who waits elsewhere.
  bool empty() const {
    const std::lock_guard lock{mutex_};
    return items_.empty();
  }
  std::vector<delivery> take_now() {
    const std::lock_guard lock{mutex_};
    return std::exchange(items_, {});
  }

  // The receiver is about to be destroyed.
  void shut() {
    std::vector<delivery> dropped;
    const std::lock_guard lock{mutex_};
    shut_ = true;
    dropped.swap(items_);
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::vector<delivery> items_;
  bool woken_ = false, shut_ = false;
};

}  // namespace tyer::engine
