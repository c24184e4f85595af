// The internals of a multi_mutex and of its hold, for acquire and release.
#pragma once

#include "api/access.hpp"
#include "primitives/multi.hpp"
#include "runtime/fork.hpp"

#include <tyer/multi_mutex.hpp>

#include <list>
#include <memory>
#include <mutex>
#include <source_location>
#include <stop_token>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {
namespace detail {

class multi_state {
 public:
  primitives::locks locks;
  std::source_location made_at;
};

// Forwards the first loss of a part. Its end does not wait for a callback that runs on another thread: that thread then
// removes the callbacks.
class loss_relay : public std::enable_shared_from_this<loss_relay> {
 public:
  void listen(const hold& h) { on_loss_.emplace_back(h.lost(), tell{this}); }
  void end() noexcept {
    std::unique_lock lock{mutex_};
    over_ = true;
    if (telling_ != 0) return;
    lock.unlock();
    on_loss_.clear();  // a callback that begins now returns at once, so this does not block
  }

  std::stop_source lost;

 private:
  struct tell {
    loss_relay* to;
    void operator()() const {
      if (const auto kept = to->weak_from_this().lock()) kept->pass_on();
    }
  };

  void pass_on() noexcept {
    std::unique_lock lock{mutex_};
    if (over_) return;
    ++telling_;
    lock.unlock();
    lost.request_stop();
    lock.lock();
    if (--telling_ != 0 || !over_) return;
    lock.unlock();
    on_loss_.clear();  // also the callback that runs this: that is allowed and does not block
  }

  std::mutex mutex_;
  int telling_ = 0;
  bool over_ = false;
  std::list<std::stop_callback<tell>> on_loss_;
};

class multi_hold_state {
 public:
  explicit multi_hold_state(std::vector<hold> all) : parts(std::move(all)) {
    for (const hold& h : parts) (*relay_)->listen(h);
  }
  // In a forked child a callback may seem to run for ever, on a thread that exists only in the parent: leak them.
  ~multi_hold_state() { birth.forked() ? static_cast<void>(relay_.release()) : (*relay_)->end(); }

  std::stop_token lost() const noexcept { return (*relay_)->lost.get_token(); }

  const runtime::birth birth;
  std::vector<hold> parts;

 private:
  std::unique_ptr<const std::shared_ptr<loss_relay>> relay_ =
      std::make_unique<const std::shared_ptr<loss_relay>>(std::make_shared<loss_relay>());
};

struct multi_maker {
  static multi_hold make(std::vector<hold> parts) {
    return multi_hold{std::make_unique<multi_hold_state>(std::move(parts))};
  }
  static const std::shared_ptr<const multi_state>& state(const multi_mutex& m) { return m.state_; }
  static std::vector<hold> take(multi_hold& h) {
    const auto mine = std::move(h.state_);
    return mine ? std::move(mine->parts) : std::vector<hold>{};
  }
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
