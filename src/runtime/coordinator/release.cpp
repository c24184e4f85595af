// The coordinator releases a ticket.
#include "runtime/coordinator/coordinator.hpp"
#include "runtime/failures.hpp"

#include <new>
#include <utility>

namespace tyer::runtime {

using core::fate;
using lease::acquire;

lane* coordinator::detach(ticket& t) noexcept {
  lane* l = std::exchange(t.home, nullptr);
  if (l != nullptr) {
    --l->tickets;
    if (l->standing == &t) l->standing = nullptr;
  }
  keeper_.remove(t);
  t.changing.reset();
  return l;
}

// Releases an attempt that nobody wants any more.
void coordinator::retire(ticket& t) {
  const acquire& a = *t.acquiring();
  if (!a.touched() && (t.held_back || a.where() != acquire::state::asking)) return erase(t);
  const auto settled = a.settled_at();
  const auto now = clock_.now();
  t.late_until = a.unsettled_until();
  begin_release(t, lease::release{settled, std::max(settled, now) + t.what->ttl}, now);
}

void coordinator::begin_release(ticket& t, lease::release r, lease::time_point first) {
  no_longer_held_back(t);  // it was held back as an attempt
  t.stage = std::move(r);
  lease::release& machine = *t.releasing();
  act(t, first <= clock_.now() ? machine.start() : machine.start_at(first));
}

// Few at a time: however many holds are released at once, renewals and acquires do not wait behind them.
void coordinator::send_release(ticket& t) noexcept {
  try {
    const auto group = engine_.group(t.what->name);
    asks& all = releases_[group];
    all.in_flight < limits_.releases_in_flight_max ? send_release_to(t, group, all) : hold_back(t, all);
  } catch (const std::bad_alloc&) {
    try_again_soon(t, &ticket::unasked);
  }
}

void coordinator::send_release_to(ticket& t, std::uint32_t group, asks& of_group) noexcept {
  using reply = reply_to<fate, engine_request::release, &under_way::others, &coordinator::on_release_answer,
                         &coordinator::on_release_dropped, asking>;
  ++of_group.in_flight;
  try {
    engine_.release({t.who, t.what->name, t.how}, t.clean, reply{under_way_, when_asked(), {t.who, group}});
  } catch (const std::bad_alloc&) {  // the reply was dropped, and said so
  }
}

void coordinator::hold_back(ticket& t, asks& of_group) {
  stand_in_line(t);
  try {
    of_group.waiting.push_back(t.who);
  } catch (...) {
    no_longer_held_back(t);
    throw;
  }
  wake(t);
}

namespace {

// Whether it blocks a reader behind it.
bool in_the_way(ticket& t) noexcept { return t.releasing() == nullptr || t.how != engine::mode::shared || t.unsure; }

}  // namespace

void coordinator::stand_in_line(ticket& t) {
  auto at = held_back_.find(t.what->name);
  if (at == held_back_.end()) at = held_back_.emplace(t.what->name, turns{}).first;
  at->second.line.push_back(t);
  if (in_the_way(t)) ++at->second.in_the_way;
  t.held_back = true;
}

// Must be called before the ticket's stage changes.
void coordinator::no_longer_held_back(ticket& t) noexcept {
  t.held_back = false;
  if (!t.turn.linked) return;
  const auto at = held_back_.find(t.what->name);
  at->second.line.erase(t);
  if (in_the_way(t)) --at->second.in_the_way;
  if (at->second.line.empty()) held_back_.erase(at);
}

// A reader does not wait for the releases of other readers.
bool coordinator::must_wait_its_turn(const ticket& t) const noexcept {
  if (held_back_.empty()) return false;
  const auto at = held_back_.find(t.what->name);
  return at != held_back_.end() && (t.how != engine::mode::shared || at->second.in_the_way > 0);
}

// The releases before it get priority over other releases, within the same limit: renewals do not wait behind them.
void coordinator::wait_its_turn(ticket& t) {
  asks& of_group = releases_[engine_.group(t.what->name)];
  of_group.first.push_back(t.who);
  stand_in_line(t);
  if (!t.home->taken) on_silence(t, too_many_before_it(), clock_.now());
}

// A release of this name was sent, or was given up: the request right behind it may be sent.
void coordinator::send_asks_behind(const std::string& name) noexcept {
  for (auto at = held_back_.find(name); at != held_back_.end(); at = held_back_.find(name)) {
    ticket& next = *at->second.line.front();
    if (next.acquiring() == nullptr) return;
    is_next(next);
    no_longer_held_back(next);
    next.acquiring()->on_sent(clock_.now());
    ask(next);
  }
}

void coordinator::send_releases_that_are_wanted(std::uint32_t group, asks& of_group) noexcept {
  while (!of_group.first.empty() && of_group.in_flight < limits_.releases_in_flight_max) {
    const ticket* wanted_by = find(of_group.first.front());
    if (wanted_by == nullptr || !wanted_by->turn.linked) {
      of_group.first.pop_front();
      continue;
    }
    const auto what = wanted_by->what;
    send_asks_behind(what->name);
    const auto at = held_back_.find(what->name);
    if (at == held_back_.end()) continue;
    ticket& next = *at->second.line.front();
    no_longer_held_back(next);
    wake(next);
    send_release_to(next, group, of_group);
    send_asks_behind(what->name);
  }
}

void coordinator::send_releases_that_waited(std::uint32_t group, asks& of_group) noexcept {
  send_releases_that_are_wanted(group, of_group);
  while (!of_group.waiting.empty() && of_group.in_flight < limits_.releases_in_flight_max) {
    ticket* t = find(of_group.waiting.front());
    of_group.waiting.pop_front();
    if (t == nullptr || t->releasing() == nullptr || !t->held_back) continue;
    const auto what = t->what;
    no_longer_held_back(*t);
    wake(*t);
    send_release(*t);  // the name may have moved to another group
    send_asks_behind(what->name);
  }
}

// The engine's own expiry does the rest.
void coordinator::give_up_waiting(ticket& t, lease::time_point now) {
  const auto what = t.what;
  no_longer_held_back(t);
  send_asks_behind(what->name);
  t.last = too_many_before_it();
  act(t, t.releasing()->on_failure(now, core::why::not_sent));
}

void coordinator::on_release_dropped(const asking& what) noexcept {
  --releases_.find(what.group)->second.in_flight;
  on_dropped(what.who);
}

void coordinator::on_release_answer(const asking& what, engine::outcome<fate>&& o, lease::time_point now) {
  asks& of_group = releases_.find(what.group)->second;
  --of_group.in_flight;
  if (std::holds_alternative<fate>(o.result)) of_group.heard = now;
  send_releases_that_waited(what.group, of_group);
  ticket* t = find(what.who);
  if (t == nullptr || t->releasing() == nullptr) return;
  lease::release& r = *t->releasing();
  if (auto* f = std::get_if<engine::failure>(&o.result)) {
    const auto kind = refused_half_way(*f) ? core::why::refused : f->kind;
    t->last = to_public(std::move(*f));
    act(*t, r.on_failure(now, kind));
  } else {
    act(*t, r.on_answer(o.sent, std::get<fate>(o.result)));
  }
}

void coordinator::act(ticket& t, lease::release::verb v) {
  switch (v) {
    case lease::release::verb::send: return send_release(t);
    case lease::release::verb::none: {
      wake(t);
      // The release may have to be repeated, but the owner need not wait for that.
      if (t.releasing()->result() == lease::release::outcome::unknown || !t.told) return;
      auto told = std::move(t.told);
      return told({}, to_public(t.releasing()->result()));
    }
    case lease::release::verb::done: {
      const auto result = t.releasing()->result();
      auto told = std::move(t.told);
      auto words = result == lease::release::outcome::unknown ? std::move(t.last) : tyer::failure{};
      if (t.releasing()->perhaps_done() && words == errc::unavailable) {
        words.code = make_error_code(errc::outcome_unknown);
      }
      erase(t);
      if (told) told(std::move(words), to_public(result));
      return;
    }
  }
}

void coordinator::erase(ticket& t) noexcept {
  no_longer_held_back(t);
  keeper_.remove(t);
  ticket_times_.dismiss(t);
  tickets_.erase(core::id{t.who});
}

}  // namespace tyer::runtime
