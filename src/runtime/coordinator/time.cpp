// The coordinator's schedule: what is due, and what to retry after memory was exhausted.
#include "runtime/coordinator/coordinator.hpp"
#include "runtime/failures.hpp"
#include "runtime/hold_state.hpp"

#include <algorithm>
#include <utility>

namespace tyer::runtime {

using core::fate;
using lease::acquire;

void coordinator::on_time(lease::time_point now) {
  look_at_clocks(now);
  while (acquisition* due = acquisition_times_.take_due(now)) {
    if (due->limit > now) {
      on_slow(*due, now);
      continue;
    }
    const auto w = due->self;
    cancel(w, at_its_limit(*due));
  }
  while (ticket* t = ticket_times_.take_due(now)) {
    const auto who = t->who;
    on_ticket_time(*t, now);
    if (ticket* same = find(who)) wake(*same);
  }
  while (asker* a = asker_times_.take_due(now)) a->on_time(*this, now);
  while (observer* o = observer_times_.take_due(now)) look(o->shared_from_this());
  keep_what_is_due(now);
  for (auto& [group, all] : asks_) send_asks_that_waited(all);  // in case those before them were dropped
  for (auto& [group, all] : releases_) send_releases_that_waited(group, all);
}

void coordinator::on_ticket_time(ticket& t, lease::time_point now) {
  if (now >= t.again_at) return do_what_was_not_done(t, now);
  if (auto* a = t.acquiring()) {
    if (now >= t.home->tells_at) return tell_those_who_are_over(t);
    if (const auto v = a->on_time(now); v != acquire::verb::none) act(t, v);
  } else if (auto* r = t.releasing()) {
    if (t.held_back && now >= r->give_up_at()) return give_up_waiting(t, now);
    if (const auto v = r->on_time(now); v != lease::release::verb::none) act(t, v);
  } else {
    on_held_time(t, now);
  }
}

// The earliest time at which a ticket has something to do, computed again whenever that may have changed: so each ticket
// has one time.
lease::time_point coordinator::due_of(ticket& t) noexcept {
  auto due = t.again_at;
  if (const auto* a = t.acquiring()) return std::min({due, a->wake_at(), t.home->tells_at});
  if (const auto* r = t.releasing()) return std::min(due, t.held_back ? r->give_up_at() : r->wake_at());
  if (const auto* l = t.lost()) return closed_ ? due : std::min(due, l->until);
  if (t.rests_until) due = std::min(due, *t.rests_until);
  if (t.current && t.current->ends_at() != lease::time_point::max()) {
    due = std::min(due, lease::alarm_at(t.current->ends_at(), t.what->ttl));
  }
  if (!t.changing) return due;
  for (const auto& c : {t.changing->current.get(), t.changing->next.get()}) {
    if (c != nullptr) due = std::min(due, c->limit);
  }
  return std::min(due, t.changing->machine.wake_at());
}

// ---- memory exhausted

void coordinator::try_again_soon(ticket& t, bool ticket::* what) noexcept {
  t.*what = true;
  t.again_at = std::min(t.again_at, clock_.now() + std::chrono::milliseconds{10});
  wake(t);
}

// A request that could not be made counts as perhaps executed: an engine may have run out of memory half-way.
void coordinator::do_what_was_not_done(ticket& t, lease::time_point now) {
  t.again_at = lease::time_point::max();
  if (std::exchange(t.unkept, false) && !t.place.linked) {
    if (t.held() != nullptr) keep_soon(t, fate::holding, t.what->ttl);
    if (t.acquiring() != nullptr) keep_soon(t, fate::waiting, t.what->waiter_ttl);
  }
  if (!std::exchange(t.unasked, false)) return;
  t.last = no_memory();
  if (auto* a = t.acquiring()) {
    on_silence(t, no_memory(), a->asked_at());
    act(t, a->on_failure(now, core::why::unknown));
  } else if (auto* r = t.releasing()) {
    act(t, r->on_failure(now, core::why::unknown));
  } else if (t.changing) {
    act(t, t.changing->machine.on_failure(now, core::why::unknown));
  }
}

lease::time_point coordinator::next_due() const noexcept {
  const auto due = std::min({keeper_.next_due(), acquisition_times_.next(), ticket_times_.next(),
                             observer_times_.next(), asker_times_.next()});
  if (slow_wait_ == lease::duration::max() || tickets_.empty()) return due;
  return std::min(due, clock_.now() + slow_wait_ / 4);  // callers that join() others do not wake the driver
}

}  // namespace tyer::runtime
