// The desk and a ticket that is being acquired: from the first request to the hold.
#include "core/token.hpp"
#include "runtime/desk.hpp"
#include "runtime/failures.hpp"
#include "runtime/hold_state.hpp"

#include <utility>

namespace tyer::runtime {

using core::fate;
using lease::acquire;

ticket* desk::find(const core::id& who) noexcept {
  const auto at = tickets_.find(who);
  return at == tickets_.end() ? nullptr : at->second.get();
}

void desk::ask(ticket& t) {
  const auto group = engine_.group(t.what->name);
  asks& all = asks_[group];
  if (all.in_flight < limits_.asks_in_flight_max) return send_ask(t, group);
  all.waiting.push_back(t.who);
}

void desk::send_asks_that_waited(asks& of_group) {
  while (!of_group.waiting.empty() && of_group.in_flight < limits_.asks_in_flight_max) {
    ticket* t = find(of_group.waiting.front());
    of_group.waiting.pop_front();
    if (t == nullptr || t->acquiring() == nullptr) continue;
    t->acquiring()->on_sent(clock_.now());
    send_ask(*t, engine_.group(t->what->name));
  }
}

void desk::send_ask(ticket& t, std::uint32_t group) {
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
  r.seen = t.home->seen;
  r.owner = t.owner;
  ++asks_in_flight_;
  ++asks_[group].in_flight;
  engine_.acquire(r, [this, who = t.who, group](engine::outcome<engine::answer>&& o) {
    const auto in = come_in();
    --asks_in_flight_;
    asks& of_group = asks_[group];
    --of_group.in_flight;
    send_asks_that_waited(of_group);
    on_answer(who, std::move(o));
  });
}

void desk::on_answer(const core::id& who, engine::outcome<engine::answer>&& o) {
  ticket* t = find(who);
  if (t == nullptr || t->held() != nullptr) return;
  if (t->releasing() != nullptr) return on_late_answer(*t, o);
  acquire& a = *t->acquiring();
  const auto now = clock_.now();
  if (auto* f = std::get_if<engine::failure>(&o.result)) {
    const auto kind = f->kind;
    t->last = to_public(std::move(*f));
    t->home->not_heard(t->last);
    return act(*t, a.on_failure(now, kind));
  }
  t->home->heard();
  engine::answer& answer = std::get<engine::answer>(o.result);
  if (auto* g = std::get_if<engine::granted>(&answer)) {
    t->part = g->part;
    t->via = g->via;
    t->slots = std::move(g->slots);
    t->key = std::move(g->key);
    t->home->seen = std::max(t->home->seen, g->part);
    return act(*t, a.on_granted(now, o.sent, g->part, g->ttl));
  }
  if (const auto* q = std::get_if<engine::queued>(&answer)) {
    if (!t->place.linked) keep_after(*t, fate::waiting, t->what->waiter_ttl, o.sent);
    const auto v = a.on_queued(now, q->ahead == 0, q->look_again);
    act(*t, v);
    if (v == acquire::verb::none) refuse_tries(*t);
    return;
  }
  const auto v = a.on_busy(now, std::get<engine::busy>(answer).hint);
  act(*t, v);
  if (v == acquire::verb::none) refuse_tries(*t);
}

// The attempt was given up while its request was under way; a release that undoes it has been sent behind it.
void desk::on_late_answer(ticket& t, const engine::outcome<engine::answer>& o) {
  const auto* f = std::get_if<engine::failure>(&o.result);
  if (f != nullptr && f->kind == core::why::unknown) return;
  const bool left_something = f == nullptr && !std::holds_alternative<engine::busy>(std::get<engine::answer>(o.result));
  act(t, t.releasing()->on_settled(left_something, t.late_until));
}

void desk::act(ticket& t, acquire::verb v) {
  switch (v) {
    case acquire::verb::none:
      ticket_timers_.sweep([this](const core::id& who) { return find(who) != nullptr; });
      return ticket_timers_.at(t.acquiring()->wake_at(), t.who);
    case acquire::verb::ask: return ask(t);
    case acquire::verb::granted: return grant(t);
    case acquire::verb::busy: return is_answer(t, v) ? refuse_front(t, {}) : begin_anew(t);
    case acquire::verb::failed: return is_answer(t, v) ? refuse_front(t, std::move(t.last)) : begin_anew(t);
    case acquire::verb::anew: return begin_anew(t);
  }
}

void desk::begin_anew(ticket& t) {
  lane& l = *detach(t);
  retire(t);
  go_on(l);
}

// Whether the end of this attempt is what the first wish wanted to know. Not if it waits, but the attempt was made for a
// try that was cancelled since; nor if it bears an outage until its own limit.
bool desk::is_answer(ticket& t, acquire::verb v) noexcept {
  const wish& first = static_cast<const wish&>(*t.home->line.front());
  const acquire& a = *t.acquiring();
  if (first.waits && !a.enqueues()) return false;
  const bool outage = v == acquire::verb::failed && core::passing(a.trouble());
  return !(outage && first.waits && first.limit != lease::time_point::max());
}

// Only the first wish has its answer; the next one asks for itself.
void desk::refuse_front(ticket& t, tyer::failure f) {
  lane& l = *detach(t);
  retire(t);
  wish& first = static_cast<wish&>(*l.line.front());
  const auto alive = first.self;
  leave(l, first);
  go_on(l);
  finish(first, std::move(f), nullptr);
}

// It has to wait, so one attempt behind it is refused; and if there was nothing else, nobody need wait.
void desk::refuse_tries(ticket& t) {
  lane& l = *t.home;
  if (l.tries == 0) return;
  std::vector<std::shared_ptr<wish>> refused;
  for (lease::waiting* at = l.line.front(); at != nullptr; at = at->place.next) {
    wish& w = static_cast<wish&>(*at);
    if (!w.waits) refused.push_back(w.self);
  }
  for (const auto& w : refused) leave(l, *w);
  if (l.line.empty()) {
    detach(t);
    retire(t);
    go_on(l);
  }
  for (const auto& w : refused) finish(*w, {}, nullptr);
}

void desk::grant(ticket& t) {
  const auto until = t.acquiring()->valid_until();
  const auto granted_at = t.acquiring()->granted_at();
  t.late_until = t.acquiring()->unsettled_until();
  keeper_.remove(t);
  t.owner.clear();
  t.stage = lease::tenure{granted_at, until, t.what->ttl};
  const auto sent =
      until + lease::margin(t.what->ttl) - t.what->ttl;  // or earlier, if the engine gave less than the ttl
  if (t.via == 0) keep_after(t, fate::holding, t.what->ttl, sent);
  give(t);
}

// The first in line has it. Whoever shares it with others does not keep the next of this client from asking for it too.
void desk::give(ticket& t) {
  lane& l = *t.home;
  wish& first = static_cast<wish&>(*l.line.front());
  const auto alive = first.self;
  leave(l, first);
  auto h =
      std::make_shared<detail::hold_state>(first.what, t.who,
                                           detail::hold_state::grant{core::make_token(t.part, t.handoffs), clock_.now(),
                                                                     t.held()->valid_until(), t.how, t.slots, t.key});
  h->at_desk = &t;
  t.current = h;
  watch_.guard(h);
  if (t.asked_back) watch_.ask(h);
  if (h->ends_at() != lease::time_point::max()) {
    ticket_timers_.at(lease::alarm_at(h->ends_at(), t.what->ttl), t.who);
  }
  if (l.standing == &t && t.how != engine::mode::exclusive) {
    l.standing = nullptr;
    go_on(l);
  }
  spare_contender(l, t);
  finish(first, {}, std::move(h));
}

// Nobody of the lane waits any more, so nobody need stand in the engine's queue for it.
void desk::spare_contender(lane& l, const ticket& besides) {
  ticket* contender = l.standing;
  if (contender == nullptr || contender == &besides || contender->acquiring() == nullptr || !l.line.empty()) return;
  detach(*contender);
  retire(*contender);
}

}  // namespace tyer::runtime
