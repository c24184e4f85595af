// The desk and a ticket on its way back.
#include "runtime/desk.hpp"
#include "runtime/failures.hpp"

#include <new>
#include <utility>

namespace tyer::runtime {

using core::fate;
using lease::acquire;

lane* desk::detach(ticket& t) noexcept {
  lane* l = std::exchange(t.home, nullptr);
  if (l != nullptr) {
    --l->tickets;
    if (l->standing == &t) l->standing = nullptr;
  }
  keeper_.remove(t);
  t.changing.reset();
  return l;
}

// An attempt that nobody wants any more.
void desk::retire(ticket& t) {
  const acquire& a = *t.acquiring();
  if (!a.touched() && (t.held_back || a.where() != acquire::state::asking)) return erase(t);
  const auto settled = a.settled_at();
  const auto now = clock_.now();
  t.late_until = a.unsettled_until();
  begin_release(t, lease::release{settled, std::max(settled, now) + t.what->ttl}, now);
}

void desk::begin_release(ticket& t, lease::release r, lease::time_point first) {
  t.held_back = false;  // as an attempt it was
  t.stage = std::move(r);
  lease::release& machine = *t.releasing();
  act(t, first <= clock_.now() ? machine.start() : machine.start_at(first));
}

// Few at a time: however many are given back at once, renewals and acquires do not wait behind them.
void desk::send_release(ticket& t) noexcept {
  try {
    const auto group = engine_.group(t.what->name);
    asks& all = releases_[group];
    all.in_flight < limits_.releases_in_flight_max ? send_release_to(t, group, all) : hold_back(t, all);
  } catch (const std::bad_alloc&) {
    try_again_soon(t, &ticket::unasked);
  }
}

void desk::send_release_to(ticket& t, std::uint32_t group, asks& of_group) noexcept {
  using reply = reply_to<fate, &under_way::others, &desk::on_release_answer, &desk::on_release_dropped, asking>;
  ++of_group.in_flight;
  try {
    engine_.release({t.who, t.what->name, t.how}, t.clean, reply{under_way_, {t.who, group}});
  } catch (const std::bad_alloc&) {  // the reply was dropped, and said so
  }
}

void desk::hold_back(ticket& t, asks& of_group) {
  const auto at = held_back_.emplace(t.what->name, &t);
  try {
    of_group.waiting.push_back(t.who);
  } catch (...) {
    held_back_.erase(at);
    throw;
  }
  t.held_back = true;
  wake(t);
}

void desk::no_longer_held_back(ticket& t) noexcept {
  if (!std::exchange(t.held_back, false)) return;
  for (auto [at, end] = held_back_.equal_range(t.what->name); at != end; ++at) {
    if (at->second == &t) return void(held_back_.erase(at));
  }
}

void desk::send_releases_that_waited(asks& of_group) noexcept {
  while (!of_group.waiting.empty() && of_group.in_flight < limits_.releases_in_flight_max) {
    ticket* t = find(of_group.waiting.front());
    of_group.waiting.pop_front();
    if (t == nullptr || t->releasing() == nullptr || !t->held_back) continue;
    no_longer_held_back(*t);
    wake(*t);
    send_release(*t);  // the name may have moved to another group
  }
}

// Whoever asks for a name does not overtake one of this client that gives it back: it would find it taken.
void desk::send_releases_before(const ticket& t) noexcept {
  for (auto at = held_back_.find(t.what->name); at != held_back_.end(); at = held_back_.find(t.what->name)) {
    ticket& before = *at->second;
    no_longer_held_back(before);
    wake(before);
    try {
      const auto group = engine_.group(before.what->name);
      send_release_to(before, group, releases_[group]);
    } catch (const std::bad_alloc&) {
      try_again_soon(before, &ticket::unasked);
    }
  }
}

// The engine's own expiry does the rest.
void desk::give_up_waiting(ticket& t, lease::time_point now) {
  no_longer_held_back(t);
  t.last = too_many_before_it();
  act(t, t.releasing()->on_failure(now, core::why::not_sent));
}

void desk::on_release_dropped(const asking& what) noexcept {
  --releases_.find(what.group)->second.in_flight;
  on_dropped(what.who);
}

void desk::on_release_answer(const asking& what, engine::outcome<fate>&& o) {
  asks& of_group = releases_.find(what.group)->second;
  --of_group.in_flight;
  send_releases_that_waited(of_group);
  ticket* t = find(what.who);
  if (t == nullptr || t->releasing() == nullptr) return;
  lease::release& r = *t->releasing();
  if (auto* f = std::get_if<engine::failure>(&o.result)) {
    const auto kind = f->kind;
    t->last = to_public(std::move(*f));
    act(*t, r.on_failure(clock_.now(), kind));
  } else {
    act(*t, r.on_answer(o.sent, std::get<fate>(o.result)));
  }
}

void desk::act(ticket& t, lease::release::verb v) {
  switch (v) {
    case lease::release::verb::send: return send_release(t);
    case lease::release::verb::none: {
      wake(t);
      // It may have to be repeated, but the owner need not wait for that.
      if (t.releasing()->result() == lease::release::outcome::unknown || !t.told) return;
      auto told = std::move(t.told);
      return told({}, to_public(t.releasing()->result()));
    }
    case lease::release::verb::done: {
      const auto result = t.releasing()->result();
      auto told = std::move(t.told);
      auto words = result == lease::release::outcome::unknown ? std::move(t.last) : tyer::failure{};
      erase(t);
      if (told) told(std::move(words), to_public(result));
      return;
    }
  }
}

void desk::erase(ticket& t) noexcept {
  if (t.releasing() != nullptr) no_longer_held_back(t);
  keeper_.remove(t);
  ticket_times_.dismiss(t);
  tickets_.erase(core::id{t.who});
}

}  // namespace tyer::runtime
