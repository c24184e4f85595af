// The desk and those who only want to know: who holds a name, who waits for it, and to ask for it back or take it.
#include "runtime/desk.hpp"
#include "runtime/failures.hpp"

#include <algorithm>
#include <utility>

namespace tyer::runtime {

namespace {

engine::failure closed_now() { return {core::why::not_sent, make_error_code(errc::closed), "the client was closed"}; }

}  // namespace

// Hands the engine's answer on, from inside the door.
template <class T>
engine::reply<T> desk::relay(engine::reply<T> told) {
  return [this, told = std::move(told)](engine::outcome<T>&& o) mutable {
    const auto in = come_in();
    told(std::move(o));
  };
}

void desk::ask(std::string_view name, std::string_view reason, engine::reply<std::uint32_t> told) {
  if (closed_) return told({clock_.now(), closed_now()});
  engine_.ask(name, reason, relay(std::move(told)));
}

void desk::show(std::string_view name, engine::reply<engine::page> told) {
  if (closed_) return told({clock_.now(), closed_now()});
  engine_.show(name, relay(std::move(told)));
}

void desk::list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
                engine::reply<engine::page> told) {
  if (closed_) return told({clock_.now(), closed_now()});
  engine_.list(prefix, cursor, limit, relay(std::move(told)));
}

void desk::evict(const engine::target& which, std::string_view reason, engine::reply<core::fate> told) {
  if (closed_) return told({clock_.now(), closed_now()});
  engine_.evict(which, reason, relay(std::move(told)));
}

void desk::diagnose(engine::reply<std::vector<engine::finding>> told) {
  if (closed_) return told({clock_.now(), closed_now()});
  engine_.diagnose(relay(std::move(told)));
}

void desk::observe(std::shared_ptr<observer> o) {
  if (closed_) return;
  engine_.watch(o->name, true);
  observers_.push_back(o);
  look(o);
}

void desk::forget(const std::shared_ptr<observer>& o) {
  o->watched = false;
  if (closed_) return;  // perhaps nobody drives any more: nothing but the observer may be touched
  std::erase(observers_, o);
  const bool others = std::ranges::any_of(observers_, [&](const auto& x) { return x->name == o->name; });
  if (!others) engine_.watch(o->name, false);
}

// A push says only that something has changed; what it is now, a look says.
void desk::look(const std::shared_ptr<observer>& o) {
  if (std::exchange(o->looking, true)) {
    o->again = true;
    return;
  }
  engine_.show(o->name, [this, o](engine::outcome<engine::page>&& result) {
    const auto in = come_in();
    o->looking = false;
    if (!o->watched || closed_) return;
    if (const auto* p = std::get_if<engine::page>(&result.result)) o->seen(*p);
    if (std::exchange(o->again, false)) return look(o);
    observer_timers_.at(clock_.now() + o->every, o);
  });
}

// All of a name; without a name all there are.
void desk::look_all(std::string_view name) {
  const auto all = observers_;
  for (const auto& o : all) {
    if (name.empty() || o->name == name) look(o);
  }
}

}  // namespace tyer::runtime
