// The coordinator and a held ticket: renewal, hand-off, loss.
#include "runtime/coordinator/coordinator.hpp"
#include "runtime/failures.hpp"
#include "runtime/hold_state.hpp"

#include <algorithm>
#include <utility>

namespace tyer::runtime {

using core::fate;
using lease::acquire;
using phase = detail::hold_state::phase;

namespace {

// For a hold that was lost because its time was over.
loss_reason lost_in_time(const detail::hold_state& h) noexcept {
  return h.valid_until() == h.ends_at() ? loss_reason::max_hold : loss_reason::deadline;
}

}  // namespace

void coordinator::give_back(const hold_ptr& h, release_reply told) {
  const bool was_held = h->end(phase::released);
  ticket* t = std::exchange(h->at_coordinator, nullptr);
  if (t == nullptr) {
    if (told) told({}, release_outcome::already_gone);
    return;
  }
  t->current.reset();
  const auto now = clock_.now();
  const changes unanswered = take_changes(*t);
  if (t->lost() != nullptr) {  // by this release its owner says that it has stopped
    t->told = std::move(told);
    t->clean = true;
    return begin_release(*t, lease::release{t->late_until, t->lost()->until}, now);
  }
  was_held ? count_end(*h, now) : end_as_lost(h, lost_in_time(*h), t->refusal);  // the watch has ended it, just before
  t->unsure = t->unsure || (t->changing && t->changing->machine.where() != lease::convert::state::idle);
  if (was_held && !closed_ && now < h->free_at()) {
    rest(*t, h->free_at());
    if (told) told({}, release_outcome::released);
  } else if (!was_held) {
    give_to_engine(*t, std::move(told), now);
  } else {
    pass_on(*t, std::move(told), now);
  }
  answer_all(unanswered, errc::lost);
}

// Only hand-offs that touch neither the engine nor a timer: a plain exclusive hold, to a caller that sleeps until its latch
// opens.
bool coordinator::hand_off(const hold_ptr& h) {
  ticket* t = h->at_coordinator;
  if (t == nullptr || closed_ || t->held() == nullptr || t->home->standing != t || t->changing || t->asked_back)
    return false;
  const auto now = clock_.now();
  if (now < h->free_at() || !t->home->line.may_hand_off(*t->held(), t->handoffs, now)) return false;
  const acquisition& next = static_cast<const acquisition&>(*t->home->line.front());
  return next.anywhere && next.what->max_hold.count() == 0 && give_to_next(*t, h);
}

// Hands the lock to the next caller of this client without a round trip, or releases it at the engine.
void coordinator::pass_on(ticket& t, release_reply told, lease::time_point now) {
  if (!t.asked_back && !t.unsure && !closed_ && t.home->line.may_hand_off(*t.held(), t.handoffs, now) &&
      give_to_next(t, nullptr)) {
    if (told) told({}, release_outcome::released);
    return;
  }
  give_to_engine(t, std::move(told), now);
}

void coordinator::give_to_engine(ticket& t, release_reply told, lease::time_point now) {
  t.told = std::move(told);
  lane& l = *detach(t);
  begin_release(t, lease::release{t.late_until, t.held()->valid_until()}, now);
  go_on(l);
}

// The ticket is renewed but has no owner: others get the lock when its min_hold is over.
void coordinator::rest(ticket& t, lease::time_point until) {
  t.rests_until = until;
  wake(t);
  // A waiting upgrade would block other readers meanwhile.
  t.in_doubt = false;
  if (t.changing) act(t, t.changing->machine.give_up(clock_.now()));
}

// The client closes and leaves the lock taken until `until`, and at most one ttl longer.
void coordinator::leave_behind(ticket& t, lease::time_point until) {
  const auto now = clock_.now();
  const bool long_enough = t.held()->valid_until() >= until;
  detach(t);
  if (long_enough) return erase(t);
  t.stage = lapsed{until, until};
  const engine::target target{t.who, t.what->name, t.how};
  const auto ttl = std::chrono::ceil<std::chrono::milliseconds>(until - now);
  using reply = reply_to<engine::kept, engine_request::keep, &under_way::others, &coordinator::on_left_behind,
                         &coordinator::on_dropped, core::id>;
  const auto who = t.who;
  try {
    return engine_.keep({&target, 1}, fate::holding, ttl, reply{under_way_, now, who});
  } catch (const std::bad_alloc&) {}
  on_left_behind(who, {now, {}}, now);  // it stays only for the rest of its ttl
}

void coordinator::on_left_behind(const core::id& who, engine::outcome<engine::kept>&&, lease::time_point) {
  if (ticket* kept = find(who); kept != nullptr) erase(*kept);
}

void coordinator::on_held_time(ticket& t, lease::time_point now) {
  if (auto* l = t.lost()) {
    if (now < l->until || closed_) return;
    take_from_owner(t, loss_reason::deadline);
    return begin_release(t, lease::release{t.late_until, now}, now);
  }
  if (t.rests_until && now >= *t.rests_until) {
    t.rests_until.reset();
    return pass_on(t, {}, now);
  }
  if (t.current && now >= t.current->alarm_at()) return lose_by_deadline(t);
  if (t.changing) on_change_time(t, now);
}

// The watch has ended it: whatever the engine says, the hold is over, and must not block others.
bool coordinator::told_lost(const ticket& t) noexcept { return t.current && t.current->where() == phase::lost; }

// The owner has dropped the hold, and had no memory to submit the release. False: the ticket is still renewed, perhaps for
// the next owner.
bool coordinator::taken_back(ticket& t) {
  if (!t.current || !t.current->abandoned()) return false;
  const auto who = t.who;
  give_back(hold_ptr{t.current}, {});
  const ticket* same = find(who);
  return same == nullptr || same->home == nullptr;
}

void coordinator::keep_from(ticket& t, fate as, lease::duration ttl, lease::time_point sent,
                            lease::duration proven) noexcept {
  t.group = engine_.group(t.what->name);
  t.alone_again = {};
  t.refusal.clear();
  try {
    keeper_.add(t, as, ttl, sent, jitter(), proven);
  } catch (const std::bad_alloc&) {
    try_again_soon(t, &ticket::unkept);
  }
}

void coordinator::keep_soon(ticket& t, fate as, lease::duration ttl) noexcept {
  t.group = engine_.group(t.what->name);
  try {
    keeper_.retry(t, as, ttl, clock_.now());
  } catch (const std::bad_alloc&) {
    try_again_soon(t, &ticket::unkept);
  }
}

// False: the hold has ended, perhaps just now, and may be gone.
bool coordinator::still_to_keep(ticket& t, lease::time_point now) {
  if (taken_back(t)) return false;
  if (!t.held()->over(now) && !told_lost(t)) return true;
  lose_by_deadline(t);
  return false;
}

void coordinator::keep_what_is_due(lease::time_point now) {
  for (auto b = keeper_.take(now); !b.entries.empty(); b = keeper_.take(now)) {
    if (b.as == fate::holding) {
      std::erase_if(b.entries, [&](lease::kept* e) { return !still_to_keep(static_cast<ticket&>(*e), now); });
    }
    if (b.entries.empty()) continue;
    try {
      if (b.as == fate::holding) count_renewals(b.entries, now);
      send_keep(b);
    } catch (const std::bad_alloc&) {
      for (lease::kept* e : b.entries) {
        if (!e->place.linked) keep_soon(static_cast<ticket&>(*e), b.as, b.ttl);
      }
      return;
    }
  }
}

// All are of one group, except for a name that has moved since.
void coordinator::send_keep(lease::keeper::batch& b) {
  auto from = b.entries.begin();
  while (from != b.entries.end()) {
    const auto group_of = [&](const lease::kept* e) {
      return engine_.group(static_cast<const ticket&>(*e).what->name);
    };
    const auto group = group_of(*from);
    const auto to =
        std::stable_partition(from, b.entries.end(), [&](const lease::kept* e) { return group_of(e) == group; });
    send_keep_to(group, {from, to}, b.as, b.ttl);
    from = to;
  }
}

void coordinator::send_keep_to(std::uint32_t group, std::span<lease::kept* const> entries, fate as,
                               lease::duration lease) {
  std::vector<engine::target> targets;
  std::vector<core::id> ids;
  targets.reserve(entries.size());
  ids.reserve(entries.size());
  for (lease::kept* e : entries) {
    const ticket& t = static_cast<ticket&>(*e);
    targets.push_back({t.who, t.what->name, t.how});
    ids.push_back(t.who);
  }
  using reply = reply_to<engine::kept, engine_request::keep, &under_way::keeps, &coordinator::on_kept,
                         &coordinator::on_keep_dropped, keeping>;
  const auto ttl = std::chrono::duration_cast<std::chrono::milliseconds>(lease);
  keeper_.on_sent(group);
  engine_.keep(targets, as, ttl, reply{under_way_, when_asked(), {std::move(ids), as, ttl, group}});
  ++keeps_sent_;
}

// True if it was neither released, granted nor lost since the request.
bool coordinator::stays_kept(ticket& t, fate as) noexcept {
  if (t.place.linked) return false;
  if (as == fate::holding) return t.held() != nullptr;
  return t.acquiring() != nullptr && t.acquiring()->where() == acquire::state::queued;
}

void coordinator::on_keep_dropped(const keeping& k) noexcept {
  keeper_.on_answered(k.group);
  for (const auto& who : k.ids) {
    ticket* t = find(who);
    if (t != nullptr && stays_kept(*t, k.as)) keep_soon(*t, k.as, k.ttl);
  }
}

void coordinator::on_kept(const keeping& k, engine::outcome<engine::kept>&& o, lease::time_point now) {
  keeper_.on_answered(k.group);
  const auto* answer = std::get_if<engine::kept>(&o.result);
  const bool together = k.ids.size() > 1;
  const bool refused = answer == nullptr && !core::passing(std::get<engine::failure>(o.result).kind);
  const auto proven = answer != nullptr ? std::clamp(answer->ttl, std::chrono::milliseconds{0}, k.ttl) : k.ttl;
  for (std::size_t i = 0; i < k.ids.size(); ++i) {
    ticket* t = find(k.ids[i]);
    if (t == nullptr || !stays_kept(*t, k.as)) continue;
    if (together && refused && keep_alone(*t, k, now)) continue;
    const bool known = answer != nullptr && i < answer->fates.size();
    const fate is = known ? answer->fates[i] : fate::unknown;
    if (is == fate::unknown) {
      if (k.as == fate::waiting) {
        on_silence(*t, answer == nullptr ? said(std::get<engine::failure>(o.result)) : no_answer_in_time(), o.sent);
      } else if (refused && !together) {
        t->refusal = said(std::get<engine::failure>(o.result)).words;
      }
      keep_soon(*t, k.as, k.ttl);  // `unknown` neither extends nor ends a hold
    } else if (k.as == fate::holding) {
      on_hold_kept(*t, is, o.sent, proven, now);
    } else {
      on_waiter_kept(*t, is, o.sent, proven, now);
    }
  }
  keep_what_is_due(now);
}

// One name that may not be renewed, as one that the client's user has lost the right to, is reason enough for a server to
// refuse all that it is asked for at once: so each is asked for alone. False: it was, not long ago, and that was of no use.
bool coordinator::keep_alone(ticket& t, const keeping& k, lease::time_point now) {
  if (now < t.alone_again) return false;
  if (k.as == fate::holding && !still_to_keep(t, now)) return true;
  try {
    lease::kept* const alone = &t;
    send_keep_to(engine_.group(t.what->name), {&alone, 1}, k.as, k.ttl);
    t.alone_again = now + lease::renew_alone(k.ttl);
  } catch (const std::bad_alloc&) {
    keep_soon(t, k.as, k.ttl);
  }
  return true;
}

// Extends the hold by the ttl that the engine has proven. If that is less than was asked for, the next renewal comes
// sooner.
void coordinator::on_hold_kept(ticket& t, fate f, lease::time_point sent, lease::duration proven,
                               lease::time_point now) {
  if (f != fate::holding) return lose_by_proof(t, f);
  if (told_lost(t)) return lose_by_deadline(t);  // the answer came after the alarm: the owner was told that it is over
  if (t.in_doubt) return keep_soon(t, fate::holding, t.what->ttl);
  board_.renewed(std::max(t.held()->valid_until() - now, lease::duration::zero()));
  if (t.held()->on_kept(sent, proven) && t.current) t.current->extend(t.held()->valid_until(), t.held()->alarm_at());
  keep_from(t, fate::holding, t.what->ttl, sent, proven);
}

void coordinator::on_waiter_kept(ticket& t, fate f, lease::time_point sent, lease::duration proven,
                                 lease::time_point now) {
  t.home->heard(f == fate::waiting, now);
  if (f == fate::waiting) keep_from(t, fate::waiting, t.what->waiter_ttl, sent, proven);
  act(t, t.acquiring()->on_kept(now, f));
}

// If the watch has ended the hold meanwhile, its owner was told already. It was held until its validity ended, however late
// that is noticed.
void coordinator::end_as_lost(const hold_ptr& h, loss_reason why, std::string_view refusal) {
  const bool by_us = h->end(phase::lost);
  const auto reason = by_us ? why : lost_in_time(*h);
  const auto end = std::max(std::min(clock_.now(), h->valid_until()), h->granted_at());
  count_end(*h, end, reason);
  if (by_us) watch_.tell(h);
  report_loss(*h, reason, end, refusal);
}

// Tells the owner, and separates it from the ticket.
void coordinator::take_from_owner(ticket& t, loss_reason why) {
  const hold_ptr h = std::move(t.current);
  t.current.reset();
  if (!h) return;
  h->at_coordinator = nullptr;
  const bool was_lapsed = t.lost() != nullptr;  // and was counted then
  if (!was_lapsed) end_as_lost(h, why, t.refusal);
}

// Tells the owner, whose later release still reaches the ticket.
void coordinator::lapse(ticket& t, lease::time_point end, loss_reason why) {
  end_as_lost(t.current, why, t.refusal);
  const auto until = end + t.what->ttl + t.what->lock_delay;
  t.stage = lapsed{end, until};
  wake(t);
}

// The engine no longer has the hold, or has it as a waiter (after a restart from an old copy); then that place is released.
void coordinator::lose_by_proof(ticket& t, fate is) {
  const changes unanswered = take_changes(t);
  lane& l = *detach(t);
  t.clean = false;
  const auto now = clock_.now();
  if (t.current && t.what->lock_delay.count() > 0) {
    lapse(t, now, loss_reason::gone);
  } else {
    take_from_owner(t, loss_reason::gone);
    if (is != fate::gone || t.late_until > now) {
      begin_release(t, lease::release{t.late_until, now + t.what->ttl}, is != fate::gone ? now : t.late_until);
    } else {
      erase(t);
    }
  }
  go_on(l);
  answer_all(unanswered, errc::lost);
}

// The engine may regard the hold as ours for longer than we do: release it, but not before the validity that we promised
// ends.
void coordinator::lose_by_deadline(ticket& t) {
  const changes unanswered = take_changes(t);
  const auto end = t.current ? t.current->valid_until() : t.held()->valid_until();
  lane& l = *detach(t);
  t.clean = false;
  if (t.current && t.what->lock_delay.count() > 0) {
    lapse(t, end, lost_in_time(*t.current));
  } else {
    take_from_owner(t, t.current ? lost_in_time(*t.current) : loss_reason::deadline);
    begin_release(t, lease::release{std::max(end, t.late_until), end + t.what->ttl}, end);
  }
  go_on(l);
  answer_all(unanswered, errc::lost);
}

}  // namespace tyer::runtime
