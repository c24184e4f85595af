// The desk and those who only want to know: who holds a name, who waits for it, and to ask for it back or take it.
#include "lease/backoff.hpp"
#include "runtime/desk.hpp"
#include "runtime/failures.hpp"

#include <algorithm>
#include <new>
#include <string>
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
//
// What could not be sent, because the engine is not there yet or not there now, is sent again for as long as one request may
// take: as one attempt at a lock is.
template <class T>
class desk::relayed final : public asker {
 public:
  using sender = core::function<void(engine::engine&, engine::reply<T>)>;

  relayed(std::shared_ptr<under_way> u, engine::reply<T> told, sender s)
      : shared_(std::move(u)),
        told_(std::move(told)),
        sender_(std::make_shared<sender>(std::move(s))),
        until_(shared_->home->clock_.now() + shared_->home->limits_.request_timeout) {
    shared_->home->asker_times_.admit();
    shared_->home->askers_.push_back(*this);
  }
  relayed(const relayed&) = delete;
  ~relayed() override {
    if (desk* d = shared_->home) {
      const auto in = d->come_in();
      d->forget(*this);
      const auto last = std::move(told_);
    }
  }

  // It is the engine's until that has answered or dropped it, and then gone: nothing of it is used behind the call.
  static void send(std::unique_ptr<asker> r) {
    relayed& x = static_cast<relayed&>(*r);
    const auto sender = x.sender_;
    desk& d = *x.shared_->home;
    (*sender)(d.engine_, [r = std::move(r)](engine::outcome<T>&& o) mutable {
      relayed& mine = static_cast<relayed&>(*r);
      mine.answer(std::move(r), std::move(o));
    });
  }
  void send(desk& d) noexcept override {
    d.asker_times_.remove(*this);
    try {
      send(std::move(self));
    } catch (const std::bad_alloc&) {  // dropped: that is an answer too
    }
  }

  void on_time(desk& d, lease::time_point now) noexcept override {
    if (now < until_) return send(d);
    const auto last = std::move(self);
    d.forget(*this);
    tell({now, std::move(why_not_)});
  }
  void close(lease::time_point now) noexcept override {
    const auto last = std::move(self);
    tell({now, closed_now(core::why::unknown)});
  }

 private:
  void answer(std::unique_ptr<asker> me, engine::outcome<T>&& o) {
    desk* d = shared_->home;
    if (d == nullptr) return;
    const auto in = d->come_in();
    if (!place.linked) return;  // it was told already
    auto* f = std::get_if<engine::failure>(&o.result);
    const auto now = d->clock_.now();
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
  std::shared_ptr<sender> sender_;
  lease::time_point until_;
  lease::backoff backoff_;
  engine::failure why_not_;
};

template <class T, class Send>
void desk::relay(engine::reply<T> told, Send send) {
  if (closed_) return told({clock_.now(), closed_now(core::why::not_sent)});
  relayed<T>::send(std::make_unique<relayed<T>>(under_way_, std::move(told), std::move(send)));
}

void desk::forget(asker& a) noexcept {
  if (!a.place.linked) return;
  askers_.erase(a);
  asker_times_.dismiss(a);
}

// The engine is there.
void desk::send_askers() noexcept {
  for (asker* a = askers_.front(); a != nullptr;) {
    asker& next = *std::exchange(a, a->place.next);
    if (next.self) next.send(*this);
  }
}

// Not left to the engine, which may be silent for as long as it likes.
void desk::close_askers() noexcept {
  const auto now = clock_.now();
  while (asker* a = askers_.front()) {
    forget(*a);
    a->close(now);
  }
}

void desk::ask(std::string_view name, std::string_view reason, engine::reply<std::uint32_t> told) {
  relay<std::uint32_t>(std::move(told), [name = std::string{name}, reason = std::string{reason}](
                                            engine::engine& e, auto reply) { e.ask(name, reason, std::move(reply)); });
}

void desk::show(std::string_view name, engine::reply<engine::page> told) {
  relay<engine::page>(std::move(told),
                      [name = std::string{name}](engine::engine& e, auto reply) { e.show(name, std::move(reply)); });
}

void desk::list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
                engine::reply<engine::page> told) {
  relay<engine::page>(std::move(told),
                      [prefix = std::string{prefix}, cursor = std::string{cursor}, limit](
                          engine::engine& e, auto reply) { e.list(prefix, cursor, limit, std::move(reply)); });
}

void desk::evict(const engine::target& which, std::string_view reason, engine::reply<core::fate> told) {
  relay<core::fate>(std::move(told),
                    [who = which.who, name = std::string{which.name}, how = which.how, reason = std::string{reason}](
                        engine::engine& e, auto reply) { e.evict({who, name, how}, reason, std::move(reply)); });
}

void desk::diagnose(engine::reply<std::vector<engine::finding>> told) {
  relay<std::vector<engine::finding>>(std::move(told),
                                      [](engine::engine& e, auto reply) { e.diagnose(std::move(reply)); });
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
