// The coordinator serves observers and operators: who holds a name, who waits, asking a holder to release, evicting it.
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

// Called when the engine is connected.
void coordinator::send_askers() noexcept {
  for (asker* a = askers_.front(); a != nullptr;) {
    asker& next = *std::exchange(a, a->place.next);
    if (next.self) next.send(*this);
  }
}

// Answers the askers here, since the engine may be silent for long.
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
  } catch (const std::bad_alloc&) {  // then the observer only polls
  }
  look(o);
}

void coordinator::forget(const std::shared_ptr<observer>& o) {
  o->watched = false;
  if (closed_) return;  // there may be no driver any more: only the observer may be touched
  if (std::erase(observers_, o) == 0) return;
  observer_times_.dismiss(*o);
  const bool others = std::ranges::any_of(observers_, [&](const auto& x) { return x->name == o->name; });
  if (!others) engine_.watch(o->name, false);
}

// A push says only that something has changed; a read says what it is now. However many changes there are, one read is
// under way at a time, and after it at most one more is scheduled.
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
  } catch (const std::bad_alloc&) {  // the reply was dropped, which is handled there
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
  } catch (const std::bad_alloc&) {  // the next read shows it
  }
  if (std::exchange(o->again, false) && o->watched) look(o);
}

// Reads for all observers of a name; without a name, for all observers.
void coordinator::look_all(std::string_view name, bool only_at_waiters) noexcept {
  for (const auto& o : observers_) {
    if (only_at_waiters && !o->waiters) continue;
    if (name.empty() || o->name == name) look(o);
  }
}

}  // namespace tyer::runtime
