// Passes an answer of the engine to a caller outside of the coordinator.
#pragma once

#include "lease/backoff.hpp"
#include "runtime/coordinator/coordinator.hpp"
#include "runtime/failures.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace tyer::runtime {

inline engine::failure closed_now(core::why kind) noexcept try {
  return {kind, make_error_code(errc::closed), "the client was closed before the engine answered"};
} catch (const std::bad_alloc&) {
  return {kind, make_error_code(errc::closed), {}};
}

inline engine::failure not_answered_in_time() noexcept try {
  return {core::why::unknown, make_error_code(errc::outcome_unknown), "no answer within the request_timeout"};
} catch (const std::bad_alloc&) {
  return {core::why::unknown, make_error_code(errc::outcome_unknown), {}};
}

// Passes the engine's answer on while the mutex is locked. The first of two is the answer: the engine's, or that the client
// was closed. If the engine drops the reply, `told` is destroyed uncalled, which counts as an answer too.
//
// A request that could not be sent, because the engine is not connected, is repeated for as long as one request may take,
// like a single attempt for a lock. Then it ends, even if the last repeat was sent just before.
template <class T>
class coordinator::relayed final : public asker {
 public:
  relayed(std::shared_ptr<under_way> u, engine::reply<T> told, query<T> what)
      : shared_(std::move(u)),
        told_(std::move(told)),
        what_(std::make_shared<query<T>>(std::move(what))),
        until_(shared_->home->clock_.now() + shared_->home->limits_.request_timeout) {
    shared_->home->asker_times_.admit();
    shared_->home->askers_.push_back(*this);
  }
  relayed(const relayed&) = delete;
  ~relayed() override {
    if (coordinator* d = shared_->home) {
      const auto in = d->lock();
      d->forget(*this);
      const auto last = std::move(told_);
    }
  }

  // The engine owns it until the engine has answered or dropped it: no member is used after the call.
  static void send(std::unique_ptr<asker> r) {
    relayed& x = static_cast<relayed&>(*r);
    const auto what = x.what_;
    coordinator& d = *x.shared_->home;
    x.asked_ = d.when_asked();
    (*what)(d.engine_, [r = std::move(r)](engine::outcome<T>&& o) mutable {
      relayed& mine = static_cast<relayed&>(*r);
      mine.answer(std::move(r), std::move(o));
    });
  }
  void send(coordinator& d) noexcept override {
    d.asker_times_.set(*this, until_);
    try {
      send(std::move(self));
    } catch (const std::bad_alloc&) {  // dropped: that is an answer too
    }
  }

  void on_time(coordinator& d, lease::time_point now) noexcept override {
    if (now < until_) return send(d);
    const auto last = std::move(self);
    d.forget(*this);
    tell({now, last ? std::move(why_not_) : not_answered_in_time()});
  }
  void close(lease::time_point now) noexcept override {
    const auto last = std::move(self);
    tell({now, closed_now(core::why::unknown)});
  }

 private:
  void answer(std::unique_ptr<asker> me, engine::outcome<T>&& o) {
    coordinator* d = shared_->home;
    if (d == nullptr) return;
    const auto in = d->lock();
    const auto now = d->clock_.now();
    d->count_reply(engine_request::query, now - asked_, o);
    if (!place.linked) return;  // it was answered already
    auto* f = std::get_if<engine::failure>(&o.result);
    if (f != nullptr && f->kind == core::why::not_sent && now < until_) {
      why_not_ = std::move(*f);
      self = std::move(me);
      return d->asker_times_.set(*this, std::min(now + backoff_.next(), until_));
    }
    d->forget(*this);
    auto told = std::move(told_);
    told(std::move(o));
  }
  void tell(engine::outcome<T>&& o) noexcept {
    auto told = std::move(told_);
    try {
      told(std::move(o));
    } catch (const std::bad_alloc&) {  // dropped: that is an answer too
    }
  }

  std::shared_ptr<under_way> shared_;
  engine::reply<T> told_;
  std::shared_ptr<query<T>> what_;
  lease::time_point until_, asked_{};
  lease::backoff backoff_;
  engine::failure why_not_;
};

template <class T>
void coordinator::ask_engine(query<T> what, std::type_identity_t<engine::reply<T>> told) {
  if (closed_) return told({clock_.now(), closed_now(core::why::not_sent)});
  relayed<T>::send(std::make_unique<relayed<T>>(under_way_, std::move(told), std::move(what)));
}

}  // namespace tyer::runtime
