// The desk and those who only want to know: who holds a name, who waits for it, and to ask for it back or take it.
#include "runtime/desk.hpp"
#include "runtime/failures.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace tyer::runtime {

namespace {

engine::failure closed_now(core::why kind) noexcept try {
  return {kind, make_error_code(errc::closed), "the client was closed before the engine answered"};
} catch (const std::bad_alloc&) {
  return {kind, make_error_code(errc::closed), {}};
}

}  // namespace

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

// Not left to the engine, which may be silent for as long as it likes.
void desk::close_askers() noexcept {
  const auto now = clock_.now();
  while (asker* a = askers_.pop_front()) a->close(now);
}

void desk::ask(std::string_view name, std::string_view reason, engine::reply<std::uint32_t> told) {
  if (closed_) return told({clock_.now(), closed_now(core::why::not_sent)});
  engine_.ask(name, reason, relay(std::move(told)));
}

void desk::show(std::string_view name, engine::reply<engine::page> told) {
  if (closed_) return told({clock_.now(), closed_now(core::why::not_sent)});
  engine_.show(name, relay(std::move(told)));
}

void desk::list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
                engine::reply<engine::page> told) {
  if (closed_) return told({clock_.now(), closed_now(core::why::not_sent)});
  engine_.list(prefix, cursor, limit, relay(std::move(told)));
}

void desk::evict(const engine::target& which, std::string_view reason, engine::reply<core::fate> told) {
  if (closed_) return told({clock_.now(), closed_now(core::why::not_sent)});
  engine_.evict(which, reason, relay(std::move(told)));
}

void desk::diagnose(engine::reply<std::vector<engine::finding>> told) {
  if (closed_) return told({clock_.now(), closed_now(core::why::not_sent)});
  engine_.diagnose(relay(std::move(told)));
}

void desk::observe(std::shared_ptr<observer> o) {
  if (closed_) return;
  observer_times_.admit();
  try {
    observers_.push_back(o);
  } catch (...) {
    observer_times_.dismiss(*o);
    throw;
  }
  try {
    engine_.watch(o->name, true);
  } catch (const std::bad_alloc&) {  // then it only looks from time to time
  }
  look(o);
}

void desk::forget(const std::shared_ptr<observer>& o) {
  o->watched = false;
  if (closed_) return;  // perhaps nobody drives any more: nothing but the observer may be touched
  if (std::erase(observers_, o) == 0) return;
  observer_times_.dismiss(*o);
  const bool others = std::ranges::any_of(observers_, [&](const auto& x) { return x->name == o->name; });
  if (!others) engine_.watch(o->name, false);
}

// A push says only that something has changed; what it is now, a look says. However many changes there are, one look is under
// way at a time, and behind the last one a single time stands for the next.
void desk::look(const std::shared_ptr<observer>& o) noexcept {
  if (std::exchange(o->looking, true)) {
    o->again = true;
    return;
  }
  observer_times_.remove(*o);
  using reply =
      reply_to<engine::page, &under_way::others, &desk::on_seen, &desk::on_not_seen, std::shared_ptr<observer>>;
  try {
    engine_.show(o->name, reply{under_way_, o});
  } catch (const std::bad_alloc&) {  // the reply was dropped, and said so
  }
}

void desk::on_not_seen(const std::shared_ptr<observer>& o) noexcept {
  o->looking = false;
  if (o->watched && !closed_) observer_times_.set(*o, clock_.now() + o->every);
}

void desk::on_seen(const std::shared_ptr<observer>& o, engine::outcome<engine::page>&& result) {
  o->looking = false;
  if (!o->watched || closed_) return;
  observer_times_.set(*o, clock_.now() + o->every);
  try {
    if (const auto* p = std::get_if<engine::page>(&result.result)) o->seen(*p);
  } catch (const std::bad_alloc&) {  // what it did not see now, it sees the next time
  }
  if (std::exchange(o->again, false) && o->watched) look(o);
}

// All of a name; without a name all there are.
void desk::look_all(std::string_view name) noexcept {
  for (const auto& o : observers_) {
    if (name.empty() || o->name == name) look(o);
  }
}

}  // namespace tyer::runtime
