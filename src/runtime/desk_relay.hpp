// What the engine says, on its way to somebody outside who waits for it.
#pragma once

#include "runtime/desk.hpp"
#include "runtime/failures.hpp"

#include <memory>
#include <new>
#include <utility>

namespace tyer::runtime {

inline engine::failure closed_now(core::why kind) noexcept try {
  return {kind, make_error_code(errc::closed), "the client was closed before the engine answered"};
} catch (const std::bad_alloc&) {
  return {kind, make_error_code(errc::closed), {}};
}

// Hands the engine's answer on, from inside the door. Whichever comes first is the answer: the engine's, or that the client was
// closed. If the engine drops it, so is `told`, who takes that for one.
template <class T>
class desk::relayed final : public asker {
 public:
  relayed(std::shared_ptr<under_way> u, engine::reply<T> told) noexcept
      : shared_(std::move(u)), told_(std::move(told)) {
    shared_->home->askers_.push_back(*this);
  }
  relayed(const relayed&) = delete;
  ~relayed() {
    if (desk* d = shared_->home) {
      const auto in = d->come_in();
      if (place.linked) d->askers_.erase(*this);
      const auto last = std::move(told_);
    }
  }
  void answer(engine::outcome<T>&& o) {
    desk* d = shared_->home;
    if (d == nullptr) return;
    const auto in = d->come_in();
    if (!place.linked) return;  // it was told already
    d->askers_.erase(*this);
    auto told = std::move(told_);
    told(std::move(o));
  }
  void close(lease::time_point now) noexcept override {
    auto told = std::move(told_);
    try {
      told({now, closed_now(core::why::unknown)});
    } catch (const std::bad_alloc&) {  // dropped: that is an answer too
    }
  }

 private:
  std::shared_ptr<under_way> shared_;
  engine::reply<T> told_;
};

template <class T>
engine::reply<T> desk::relay(engine::reply<T> told) {
  return [r = std::make_unique<relayed<T>>(under_way_, std::move(told))](engine::outcome<T>&& o) {
    r->answer(std::move(o));
  };
}

}  // namespace tyer::runtime
