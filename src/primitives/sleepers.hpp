// The threads that sleep at a gate, for a clock that is moved by hand: such a thread counts as waiting in a call, and as
// awake as soon as the gate was opened, not only when it gets a processor. Unused with the real clock.
//
// Thread safety: everything may be called from any thread.
#pragma once

#include "core/clock.hpp"
#include "lease/terms.hpp"

#include <list>
#include <memory>
#include <mutex>

namespace tyer::primitives {

class sleepers {
 public:
  // Make it before the last check of the gate; then no opening is missed. It is for one sleep: once woken, it stays awake.
  class place {
   public:
    place(sleepers& all, const core::clock& time) : all_(all), call_(time.begin_call()) {
      if (!call_) return;
      const std::lock_guard lock{all_.mutex_};
      at_ = all_.calls_.insert(all_.calls_.end(), call_.get());
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() {
      if (!call_) return;
      call_->answered();
      const std::lock_guard lock{all_.mutex_};
      all_.calls_.erase(at_);
    }
    void sleeps(lease::time_point limit) noexcept {
      if (call_) call_->sleeps(limit);
    }

   private:
    sleepers& all_;
    const std::shared_ptr<core::clock::call> call_;
    std::list<core::clock::call*>::iterator at_;
  };

  void wake_all() noexcept {
    const std::lock_guard lock{mutex_};
    for (auto* c : calls_) c->answered();
  }

 private:
  std::mutex mutex_;
  std::list<core::clock::call*> calls_;
};

}  // namespace tyer::primitives
