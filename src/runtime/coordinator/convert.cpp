// The coordinator converts a ticket: upgrade, downgrade, or an upgrade that is cancelled half-way.
#include "core/token.hpp"
#include "runtime/coordinator/coordinator.hpp"
#include "runtime/failures.hpp"
#include "runtime/hold_state.hpp"

#include <new>
#include <utility>

namespace tyer::runtime {

using lease::convert;
using phase = detail::hold_state::phase;

namespace {

convert::goal goal_of(engine::mode m) {
  return m == engine::mode::exclusive ? convert::goal::exclusive : convert::goal::shared;
}

engine::mode mode_of(convert::goal g) {
  return g == convert::goal::exclusive ? engine::mode::exclusive : engine::mode::shared;
}

}  // namespace

void coordinator::answer(const std::shared_ptr<change>& c, tyer::failure f, bool changed) noexcept {
  c->pending = false;
  if (lane* unused = std::exchange(c->home, nullptr)) {
    --unused->tickets;
    go_on(*unused);
  }
  try {
    c->done(std::move(f), changed);
  } catch (...) {  // as in finish()
  }
}

void coordinator::convert(std::shared_ptr<change> c) try {
  if (closed_) return answer(c, errc::closed, false);
  ticket* t = c->of->at_coordinator;
  if (t == nullptr || t->held() == nullptr || c->of->where() != phase::held) return answer(c, errc::lost, false);
  if (t->how == c->to->how && !t->changing) return answer(c, {}, true);
  if (!t->changing) {
    t->changing = std::make_unique<conversion>(conversion{.machine = {t->what->ttl, limits_.request_timeout}});
  }
  const bool idle = t->changing->machine.where() == convert::state::idle;
  if (!idle && (t->changing->current || t->changing->next)) {
    return answer(c, {errc::refused, "another conversion of this hold is under way"}, false);
  }
  lane& home = lane_for(c->to);
  ++home.tickets;
  c->home = &home;
  c->pending = true;
  if (idle) return begin_change(*t, std::move(c));
  t->changing->next = std::move(c);  // a cancelled upgrade is still being undone
  wake(*t);
} catch (const std::bad_alloc&) {
  answer(c, no_memory(), false);
}

void coordinator::begin_change(ticket& t, std::shared_ptr<change> c) {
  if (t.how == c->to->how) return answer(c, {}, true);
  const auto goal = goal_of(c->to->how);
  t.changing->before = t.part;
  t.changing->answered = false;
  t.last = {};
  t.changing->current = std::move(c);
  act(t, t.changing->machine.begin(goal, clock_.now()));
}

void coordinator::cancel(const std::shared_ptr<change>& c, tyer::failure why) {
  if (!c->pending) return;
  ticket* t = c->of->at_coordinator;
  if (t == nullptr || !t->changing) return;
  if (t->changing->next == c) {
    t->changing->next.reset();
    return answer(c, std::move(why), false);
  }
  // A downgrade cannot be cancelled: a caller that has asked to become a reader must not write again.
  if (c->to->how != engine::mode::exclusive) return;
  t->changing->current.reset();
  act(*t, t->changing->machine.give_up(clock_.now()));
  answer(c, std::move(why), false);
}

// After a reconnect. A renewal does not check the mode, so a server that was restarted from a copy older than the upgrade
// would keep renewing the hold as one of several readers. Repeating the upgrade changes nothing if the server has it; until
// it is confirmed, the hold is not renewed.
void coordinator::confirm_upgrade(ticket& t) {
  if (t.changing->machine.where() != convert::state::idle) return;  // being undone, or repeated already
  t.in_doubt = true;
  act(t, t.changing->machine.begin(convert::goal::exclusive, clock_.now()));
}

bool coordinator::disproves(ticket& t, const engine::outcome<engine::answer>& o) {
  if (const auto* f = std::get_if<engine::failure>(&o.result)) return !core::passing(f->kind);
  const auto* g = std::get_if<engine::granted>(&std::get<engine::answer>(o.result));
  t.in_doubt = g == nullptr || g->part != t.part;
  return t.in_doubt;
}

// As for an acquisition: `false` only if the engine has said that others are in the way.
tyer::failure coordinator::change_at_its_limit(const ticket& t) noexcept {
  if (t.changing->answered) return {};
  return t.last.code == errc::unavailable ? same(t.last) : no_answer_in_time();
}

void coordinator::on_change_time(ticket& t, lease::time_point now) {
  const auto who = t.who;
  const auto why = change_at_its_limit(t);
  for (const auto& c : {t.changing->current, t.changing->next}) {
    if (!c || now < c->limit) continue;
    c->limit = lease::time_point::max();  // once: a downgrade goes on
    cancel(c, same(why));
  }
  ticket* same = find(who);  // the caller may have released it in its callback
  if (same != nullptr && same->changing) act(*same, same->changing->machine.on_time(now));
}

void coordinator::send_convert(ticket& t) noexcept {
  wake(t);  // its caller has a limit
  using reply = reply_to<engine::answer, engine_request::convert, &under_way::others, &coordinator::on_converted,
                         &coordinator::on_convert_dropped, converting>;
  const converting mine{t.who, ++t.changing->serial};
  try {
    engine_.convert({t.who, t.what->name, t.how}, mode_of(t.changing->machine.to()), limits_.request_timeout,
                    reply{under_way_, when_asked(), mine});
  } catch (const std::bad_alloc&) {  // the reply was dropped, which is handled there
  }
}

void coordinator::on_convert_dropped(const converting& c) noexcept {
  ticket* t = find(c.who);
  if (t != nullptr && t->changing && t->changing->serial == c.serial) try_again_soon(*t, &ticket::unasked);
}

void coordinator::on_converted(const converting& c, engine::outcome<engine::answer>&& o, lease::time_point now) {
  ticket* t = find(c.who);
  if (t == nullptr || t->held() == nullptr || !t->changing || t->changing->serial != c.serial) return;
  lease::convert& machine = t->changing->machine;
  if (t->in_doubt && disproves(*t, o)) return lose_by_proof(*t, core::fate::holding);
  if (auto* f = std::get_if<engine::failure>(&o.result)) {
    if (f->code == errc::lost) {  // the next renewal will prove it
      suspect(c.who);
    }
    const auto kind = f->kind;
    const bool lost = f->code == errc::lost;
    const bool half_way = refused_half_way(*f);
    t->last = lost ? tyer::failure{errc::lost} : to_public(std::move(*f));
    t->changing->answered = false;
    const auto change = t->changing->current;
    if (!half_way || !change || change->to->how != engine::mode::exclusive) {
      return act(*t, machine.on_failure(now, half_way ? core::why::refused : kind));
    }
    machine.on_failure(now, kind);
    return cancel(change, same(t->last));  // what the engine may have done is undone
  }
  const auto& a = std::get<engine::answer>(o.result);
  if (const auto* g = std::get_if<engine::granted>(&a)) {
    // Every conversion gives a larger part. If this one does not, the engine has lost an earlier conversion, as after a
    // restart from an old copy, and holds that others were granted since may conflict with ours.
    if (t->changing->current && g->part <= t->changing->before) return lose_by_proof(*t, core::fate::holding);
    t->part = std::max(t->part, g->part);
    floors_.raise(t->what->name, g->part);
    return act(*t, machine.on_granted(now, o.sent));
  }
  t->changing->answered = true;
  const auto* q = std::get_if<engine::queued>(&a);
  const auto v = q != nullptr ? machine.on_queued(now, q->look_again) : machine.on_busy();
  const auto change = t->changing->current;
  if (q != nullptr && change && !change->waits) return cancel(change, {});  // one attempt, and others still read
  act(*t, v);
}

void coordinator::act(ticket& t, convert::verb v) {
  switch (v) {
    case convert::verb::none: return wake(t);
    case convert::verb::ask: return send_convert(t);
    case convert::verb::granted: return end_change(t, {}, true);
    case convert::verb::busy: return end_change(t, {}, false);
    case convert::verb::failed: return end_change(t, std::move(t.last), false);
  }
}

void coordinator::end_change(ticket& t, tyer::failure f, bool changed) {
  const auto c = std::exchange(t.changing->current, nullptr);
  const auto next = std::exchange(t.changing->next, nullptr);
  if (c && changed) become(t, *c);
  wake(t);
  if (next) begin_change(t, next);
  if (c) answer(c, std::move(f), changed);
}

// From now on the ticket belongs to the lane of the new mode, and may be handed off there.
void coordinator::become(ticket& t, change& c) noexcept {
  const auto& to = c.to;
  lane& old = *t.home;
  --old.tickets;
  if (old.standing == &t) old.standing = nullptr;
  lane& fresh = *std::exchange(c.home, nullptr);
  t.home = &fresh;
  t.what = to;
  t.how = to->how;
  t.upgraded = t.how == engine::mode::exclusive;
  if (t.how == engine::mode::exclusive && fresh.standing == nullptr) {
    fresh.standing = &t;
    fresh.taken = true;
  }
  if (t.current) t.current->become(t.how, core::make_token(t.part, t.handoffs));
  go_on(old);
}

// The hold is over or being released: callers that have requested a conversion must be answered, but only when the ticket
// is consistent again, because a callback may call back into the coordinator. The machine stays as long as the ticket: a
// conversion of the next owner must not overtake one of an earlier owner.
coordinator::changes coordinator::take_changes(ticket& t) noexcept {
  if (!t.changing) return {};
  return {std::move(t.changing->current), std::move(t.changing->next)};
}

void coordinator::answer_all(const changes& all, const tyer::failure& f) noexcept {
  for (const auto& c : all) {
    if (c) answer(c, f.code, false);
  }
}

}  // namespace tyer::runtime
