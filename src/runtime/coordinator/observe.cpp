// The coordinator and those who only want to know: who holds a name, who waits for it, and to ask for it back or take it.
#include "runtime/coordinator/relay.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace tyer::runtime {

std::size_t coordinator::waiting_for(std::string_view name) const noexcept {
  std::size_t n = 0;
  const auto count = [&](const lane& l) { n += l.what->name == name ? l.line.size() : 0; };
  for (const auto& l : lanes_) count(*l.second);
  for (const auto& l : apart_) count(*l.second);
  return n;
}

void coordinator::forget(asker& a) noexcept {
  if (!a.place.linked) return;
  askers_.erase(a);
  asker_times_.dismiss(a);
}

// The engine is there.
void coordinator::send_askers() noexcept {
  for (asker* a = askers_.front(); a != nullptr;) {
    asker& next = *std::exchange(a, a->place.next);
    if (next.self) next.send(*this);
  }
}

// Not left to the engine, which may be silent for as long as it likes.
void coordinator::close_askers() noexcept {
  const auto now = clock_.now();
  while (asker* a = askers_.front()) {
    forget(*a);
    a->close(now);
  }
}

template void coordinator::ask_engine(query<std::uint32_t>, engine::reply<std::uint32_t>);
template void coordinator::ask_engine(query<engine::page>, engine::reply<engine::page>);
template void coordinator::ask_engine(query<core::fate>, engine::reply<core::fate>);
template void coordinator::ask_engine(query<std::vector<engine::finding>>, engine::reply<std::vector<engine::finding>>);

void coordinator::observe(std::shared_ptr<observer> o) {
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

void coordinator::forget(const std::shared_ptr<observer>& o) {
  o->watched = false;
  if (closed_) return;  // perhaps nobody drives any more: nothing but the observer may be touched
  if (std::erase(observers_, o) == 0) return;
  observer_times_.dismiss(*o);
  const bool others = std::ranges::any_of(observers_, [&](const auto& x) { return x->name == o->name; });
  if (!others) engine_.watch(o->name, false);
}

// A push says only that something has changed; what it is now, a look says. However many changes there are, one look is under
// way at a time, and behind the last one a single time stands for the next.
void coordinator::look(const std::shared_ptr<observer>& o) noexcept {
  if (!o->looking && clock_.now() < o->not_before) return observer_times_.set(*o, o->not_before);
  if (std::exchange(o->looking, true)) {
    o->again = true;
    return;
  }
  observer_times_.remove(*o);
  using reply = reply_to<engine::page, engine_request::look, &under_way::others, &coordinator::on_seen,
                         &coordinator::on_not_seen, std::shared_ptr<observer>>;
  try {
    engine_.look(o->name, o->waiters, reply{under_way_, when_asked(), o});
  } catch (const std::bad_alloc&) {  // the reply was dropped, and said so
  }
}

void coordinator::on_not_seen(const std::shared_ptr<observer>& o) noexcept {
  o->looking = false;
  if (o->watched && !closed_) observer_times_.set(*o, clock_.now() + o->every);
}

void coordinator::on_seen(const std::shared_ptr<observer>& o, engine::outcome<engine::page>&& result,
                          lease::time_point now) {
  o->looking = false;
  if (!o->watched || closed_) return;
  o->not_before = now + o->apart;
  observer_times_.set(*o, std::max(now + o->every, o->not_before));
  try {
    o->seen(result);
  } catch (const std::bad_alloc&) {  // what it did not see now, it sees the next time
  }
  if (std::exchange(o->again, false) && o->watched) look(o);
}

// All of a name; without a name all there are.
void coordinator::look_all(std::string_view name, bool only_at_waiters) noexcept {
  for (const auto& o : observers_) {
    if (only_at_waiters && !o->waiters) continue;
    if (name.empty() || o->name == name) look(o);
  }
}

}  // namespace tyer::runtime
