// The coordinator acquires a ticket: from the first request to the hold.
#include "core/token.hpp"
#include "runtime/coordinator/coordinator.hpp"
#include "runtime/failures.hpp"
#include "runtime/hold_state.hpp"

#include <new>
#include <string>
#include <utility>

namespace tyer::runtime {

using core::fate;
using lease::acquire;

namespace {

// This many late grants in a row mean that the ttl is too short; fewer may be a hiccup.
constexpr std::uint32_t late_grants_min = 3;

std::string in_ms(lease::duration d) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(d).count()) + " ms";
}

tyer::failure too_slow(lease::duration took, lease::duration ttl) {
  return {errc::unavailable, "the ttl is too short for this engine: an answer took " + in_ms(took) +
                                 ", but of a ttl of " + in_ms(ttl) + " a third must be left when it comes"};
}

}  // namespace

ticket* coordinator::find(const core::id& who) noexcept {
  const auto at = tickets_.find(who);
  return at == tickets_.end() ? nullptr : at->second.get();
}

// A request for a name does not overtake a release of that name by this client: it would find the lock taken. A ticket that is in
// the engine's queue already has its place there.
void coordinator::ask_in_turn(ticket& t) noexcept {
  try {
    if (!t.acquiring()->touched() && must_wait_its_turn(t)) return wait_its_turn(t);
  } catch (const std::bad_alloc&) {
    return try_again_soon(t, &ticket::unasked);
  }
  ask(t);
}

void coordinator::ask(ticket& t) noexcept {
  try {
    const auto group = engine_.group(t.what->name);
    asks& all = asks_[group];
    if (all.in_flight < limits_.asks_in_flight_max) return send_ask(t, group, all);
    all.waiting.push_back(t.who);
    t.held_back = true;
    if (!t.home->taken) on_silence(t, too_many_before_it(), clock_.now());
  } catch (const std::bad_alloc&) {
    try_again_soon(t, &ticket::unasked);
  }
}

void coordinator::send_asks_that_waited(asks& of_group) noexcept {
  while (!of_group.waiting.empty() && of_group.in_flight < limits_.asks_in_flight_max) {
    ticket* t = find(of_group.waiting.front());
    of_group.waiting.pop_front();
    if (t != nullptr && t->confirming != nullptr) send_held_back(*t->confirming);
    if (t == nullptr || t->acquiring() == nullptr) continue;
    t->acquiring()->on_sent(clock_.now());
    ask(*t);  // the name may have moved to another group
  }
}

void coordinator::send_ask(ticket& t, std::uint32_t group, asks& of_group) noexcept {
  const spec& s = *t.what;
  engine::request r;
  r.what = {t.who, s.name, s.how};
  r.take = s.take;
  r.capacity = s.capacity;
  r.ttl = s.ttl;
  r.waiter_ttl = s.waiter_ttl;
  r.lock_delay = s.lock_delay;
  r.not_after = limits_.request_timeout;
  r.enqueue = t.acquiring()->enqueues();
  r.seen = floors_.of(s.name);
  r.owner = t.owner;
  using reply = reply_to<engine::answer, engine_request::acquire, &under_way::asks, &coordinator::on_answer,
                         &coordinator::on_ask_dropped, asking>;
  ++of_group.in_flight;
  is_next(t);
  t.held_back = false;
  try {
    engine_.acquire(r, reply{under_way_, t.acquiring()->asked_at(), {t.who, group}});
  } catch (const std::bad_alloc&) {  // the reply was dropped, which on_ask_dropped handles
  }
}

// For a request that was not made, or that will get no answer.
void coordinator::on_ask_dropped(const asking& what) noexcept {
  --asks_.find(what.group)->second.in_flight;
  on_dropped(what.who);
}

void coordinator::on_dropped(const core::id& who) noexcept {
  if (ticket* t = find(who)) try_again_soon(*t, &ticket::unasked);
}

void coordinator::on_answer(const asking& what, engine::outcome<engine::answer>&& o, lease::time_point now) {
  asks& of_group = asks_.find(what.group)->second;
  --of_group.in_flight;
  if (std::holds_alternative<engine::answer>(o.result)) of_group.heard = now;
  send_asks_that_waited(of_group);
  ticket* t = find(what.who);
  if (t == nullptr || t->held() != nullptr) return;
  if (t->releasing() != nullptr) return on_late_answer(*t, o);
  acquire& a = *t->acquiring();
  if (auto* f = std::get_if<engine::failure>(&o.result)) {
    // This client is releasing holds of the name, which will make room: the engine has not got the release yet.
    const bool soon = f->kind == core::why::over_limit && gives_back(t->what->name);
    const auto kind = soon ? core::why::not_sent : f->kind;
    const bool half_way = refused_half_way(*f);
    t->last = to_public(std::move(*f));
    on_silence(*t, same(t->last), a.asked_at());
    const auto v = a.on_failure(now, kind);
    return half_way ? refuse_front(*t, std::move(t->last)) : act(*t, v);
  }
  engine::answer& answer = std::get<engine::answer>(o.result);
  auto* g = std::get_if<engine::granted>(&answer);
  t->home->heard(g == nullptr || t->how == engine::mode::exclusive, now);
  if (g != nullptr) {
    t->part = g->part;
    t->slots = std::move(g->slots);
    t->key = std::move(g->key);
    floors_.raise(t->what->name, g->part);
    return act(*t, a.on_granted(now, o.sent, g->part, g->ttl));
  }
  t->queued = true;
  if (t->home->late < late_grants_min) t->home->too_late = {};  // others have it
  if (const auto* q = std::get_if<engine::queued>(&answer)) {
    if (!t->place.linked) keep_from(*t, fate::waiting, t->what->waiter_ttl, o.sent, t->what->waiter_ttl);
    const auto v = a.on_queued(now, q->ahead == 0, q->look_again);
    act(*t, v);
    if (v == acquire::verb::none) refuse_tries(*t);
    return;
  }
  const auto v = a.on_busy(now, std::get<engine::busy>(answer).hint);
  act(*t, v);
  if (v == acquire::verb::none) refuse_tries(*t);
}

// The attempt was cancelled while its request was under way; a release that undoes it was sent after it.
void coordinator::on_late_answer(ticket& t, const engine::outcome<engine::answer>& o) {
  const auto* f = std::get_if<engine::failure>(&o.result);
  if (f != nullptr && f->kind == core::why::unknown) return;
  const bool left_something = f == nullptr && !std::holds_alternative<engine::busy>(std::get<engine::answer>(o.result));
  act(t, t.releasing()->on_settled(left_something, t.late_until));
}

void coordinator::act(ticket& t, acquire::verb v) {
  switch (v) {
    case acquire::verb::none: return wake(t);
    case acquire::verb::ask: wake(t); return ask_in_turn(t);
    case acquire::verb::granted: return grant(t);
    case acquire::verb::busy: return refuse_tries(t);
    case acquire::verb::failed: return refuse_front(t, std::move(t.last));
    case acquire::verb::anew: return begin_anew_if_of_use(t);
  }
}

// The ticket is useless now. The waiting acquisitions get a new one.
void coordinator::begin_anew(ticket& t) {
  lane& l = *detach(t);
  retire(t);
  go_on(l);
}

// The grant came too late to be useful. That may be a hiccup, so it is requested again, but not for ever: if every answer
// takes this long, the ttl is too short for this engine.
void coordinator::begin_anew_if_of_use(ticket& t) {
  lane& l = *t.home;
  const auto now = clock_.now();
  if (l.late++ == 0) l.late_since = t.acquiring()->granted_at();
  try {
    l.too_late = too_slow(now - t.acquiring()->granted_at(), t.what->ttl);
  } catch (const std::bad_alloc&) {
    l.too_late = errc::unavailable;
  }
  leaving over;
  if (l.late >= late_grants_min) take_out_those_who_are_over(l, l.late_since, over);
  const auto why = same(l.too_late);
  begin_anew(t);
  finish_all(over, why);
}

// Only the first acquisition is answered; the next one sends its own request.
void coordinator::refuse_front(ticket& t, tyer::failure f) {
  lane& l = *detach(t);
  if (f.code != errc::unavailable) l.expect(clock_.now());  // that was an answer
  retire(t);
  acquisition& first = static_cast<acquisition&>(*l.line.front());
  const auto alive = first.self;
  leave(l, first);
  go_on(l);
  finish(first, std::move(f), nullptr);
}

void coordinator::take_out_tries(lane& l, leaving& to) noexcept {
  for (lease::waiting* at = l.line.front(); at != nullptr && l.tries > 0;) {
    acquisition& w = static_cast<acquisition&>(*std::exchange(at, at->place.next));
    if (!w.waits) take_out(l, w, to);
  }
}

// The engine has said that others have the lock, and a try does not wait. If no other acquisition is in line, the lane
// needs no ticket; a ticket that was made only for a try is over.
void coordinator::refuse_tries(ticket& t) {
  lane& l = *t.home;
  if (l.tries == 0) return;
  leaving refused;
  take_out_tries(l, refused);
  if (l.line.empty() || t.acquiring()->where() == acquire::state::over) begin_anew(t);
  finish_all(refused, {});
}

void coordinator::grant(ticket& t) {
  const acquire& a = *t.acquiring();
  const lease::tenure held{a.granted_at(), a.valid_until(), a.given()};
  hold_ptr h;
  try {
    keeper_.make_room(fate::holding, t.what->ttl, engine_.group(t.what->name));
    h = make_hold(t, t.handoffs, held);
  } catch (const std::bad_alloc&) {
    return refuse_front(t, no_memory());
  }
  t.home->in_time();
  t.late_until = a.unsettled_until();
  keeper_.remove(t);
  t.owner.clear();
  t.stage = held;
  keep_from(t, fate::holding, t.what->ttl, held.confirmed_at(), held.ttl());
  give(t, std::move(h));
}

// Makes the hold for the first in line. Its deadline is guarded before the caller gets it.
hold_ptr coordinator::make_hold(ticket& t, std::uint32_t handoffs, const lease::tenure& held) {
  const acquisition& first = static_cast<const acquisition&>(*t.home->line.front());
  auto h = std::make_shared<detail::hold_state>(
      first.what, t.who,
      detail::hold_state::grant{core::make_token(t.part, handoffs), clock_.now(), held.valid_until(), held.alarm_at(),
                                t.how, t.slots, t.key, first.since, first.where});
  watch_.guard(h);
  return h;
}

// Gives the hold to the first in line. After a shared hold or a permit the next caller of this client may send its request
// at once.
void coordinator::give(ticket& t, hold_ptr h) noexcept {
  lane& l = *t.home;
  acquisition& first = static_cast<acquisition&>(*l.line.front());
  const auto alive = first.self;
  leave(l, first);
  leaving refused;
  if (t.how == engine::mode::exclusive) take_out_tries(l, refused);  // a caller of this client has it now
  h->at_coordinator = &t;
  t.current = h;
  board_.hold_began(group_of(h->what()));
  if (t.asked_back) {
    watch_.ask(h);
    report_asked(*h, {});
  }
  wake(t);
  if (l.apart) {
    join_the_others(t);
  } else {
    if (l.standing == &t && t.how != engine::mode::exclusive) {
      l.standing = nullptr;
      go_on(l);
    }
    spare_contender(l, t);
  }
  finish(first, {}, std::move(h));
  finish_all(refused, {});
}

// Hands the lock from one holder to the next without the engine. False: out of memory, and nothing was done.
bool coordinator::give_to_next(ticket& t, const hold_ptr& from) noexcept {
  hold_ptr next;
  try {
    next = make_hold(t, t.handoffs + 1, *t.held());
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (from && !from->end(detail::hold_state::phase::released)) {
    next->end(detail::hold_state::phase::released);  // it was lost in this moment: nobody has seen the new hold
    return false;
  }
  if (from) {
    count_end(*from, next->granted_at());
    from->at_coordinator = nullptr;
  }
  t.current.reset();
  ++t.handoffs;
  give(t, std::move(next));
  return true;
}

// The first in line has got the hold of another ticket than the one that asks for it.
void coordinator::spare_contender(lane& l, const ticket& besides) {
  const ticket* contender = l.standing;
  if (contender == nullptr || contender == &besides || l.standing->acquiring() == nullptr) return;
  stand_for_the_rest(l);
}

}  // namespace tyer::runtime
