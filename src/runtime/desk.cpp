#include "runtime/desk.hpp"

#include "core/token.hpp"
#include "runtime/failures.hpp"
#include "runtime/hold_state.hpp"

#include <utility>

namespace tyer::runtime {

using core::fate;
using lease::acquire;
using phase = detail::hold_state::phase;

namespace {

// Stored with the hold, for people: "shop-7 pid 812 shop order.cc:87".
std::string owner_of(const spec& what, const std::source_location& where) {
  std::string_view file = where.file_name();
  if (const auto at = file.rfind('/'); at != std::string_view::npos) file.remove_prefix(at + 1);
  const std::string line = std::to_string(where.line());
  std::string text;
  text.reserve(what.owner.size() + file.size() + line.size() + 2);
  return text.append(what.owner).append(1, ' ').append(file).append(1, ':').append(line);
}

}  // namespace

desk::desk(engine::engine& e, const core::clock& c, core::id_source& ids, watcher& w, const limits& l)
    : engine_(e), clock_(c), ids_(ids), watch_(w), limits_(l), dice_(ids.nonce() | 1), keeper_(e.can().keep_batch) {}

// Wishes that nobody will answer any more must not keep themselves alive.
desk::~desk() {
  for (const auto& [key, l] : lanes_) {
    while (!l->line.empty()) {
      wish& w = static_cast<wish&>(*l->line.front());
      l->line.leave(w);
      w.queued_at = nullptr;
      const auto last = std::move(w.self);
    }
  }
}

double desk::jitter() noexcept {
  dice_ ^= dice_ << 13;
  dice_ ^= dice_ >> 7;
  dice_ ^= dice_ << 17;
  return static_cast<double>(dice_ >> 11) / static_cast<double>(std::uint64_t{1} << 53);
}

// ---- lanes and their wishes

lane& desk::lane_for(const std::shared_ptr<const spec>& what) {
  const lane_key key{what->name, what->how, what->take, what->capacity, what->ttl};
  if (const auto at = lanes_.find(key); at != lanes_.end()) {
    if (at->second->idle.linked) idle_lanes_.erase(*at->second);
    return *at->second;
  }
  auto fresh = std::make_unique<lane>(what);
  const lane_key own{fresh->what->name, key.how, key.take, key.capacity, key.ttl};  // the view must live with the lane
  return *lanes_.emplace(own, std::move(fresh)).first->second;
}

void desk::finish(wish& w, tyer::failure f, hold_ptr h) {
  const auto last = std::move(w.self);
  w.queued_at = nullptr;
  w.done(std::move(f), std::move(h));
}

void desk::want(std::shared_ptr<wish> w) {
  if (closed_) return finish(*w, errc::closed, nullptr);
  if (wishes_ >= limits_.wishes_max) {
    return finish(*w, {errc::over_limit, "too many callers wait in this client"}, nullptr);
  }
  lane& l = lane_for(w->what);
  const bool taken = l.standing != nullptr || !l.line.empty();
  if (!w->waits && taken) return finish(*w, {}, nullptr);  // one attempt, and others of this client are before it
  w->self = w;
  w->queued_at = &l;
  w->since = clock_.now();
  ++wishes_;
  l.line.join(*w);
  if (w->limit != lease::time_point::max()) {
    wish_timers_.sweep([](const std::weak_ptr<wish>& p) {
      const auto live = p.lock();
      return live && live->queued_at != nullptr;
    });
    wish_timers_.at(w->limit, w);
  }
  if (l.standing == nullptr) begin(l);
}

void desk::begin(lane& l) {
  wish& first = static_cast<wish&>(*l.line.front());
  const bool waits = first.waits;
  const bool limited = first.limit != lease::time_point::max();
  const auto patience = !waits    ? limits_.request_timeout
                        : limited ? std::max(limits_.unavailable_after, limits_.request_timeout)
                                  : limits_.unavailable_after;
  auto fresh = std::make_unique<ticket>(acquire{{.ttl = l.what->ttl,
                                                 .waiter_ttl = l.what->waiter_ttl,
                                                 .patience = patience,
                                                 .not_after = limits_.request_timeout,
                                                 .enqueue = waits}});
  ticket& t = *fresh;
  t.who = ids_.next();
  t.what = l.what;
  t.home = &l;
  t.owner = owner_of(*l.what, first.where);
  l.standing = &t;
  tickets_.emplace(t.who, std::move(fresh));
  act(t, t.acquiring()->start(clock_.now()));
}

// Nobody stands for this lane any more: the next wish begins, or the lane is put aside for what it has seen.
void desk::go_on(lane& l) {
  if (l.standing != nullptr || l.idle.linked) return;
  if (!l.line.empty()) return begin(l);
  idle_lanes_.push_back(l);
  if (idle_lanes_.size() <= limits_.idle_lanes_max) return;
  const lane& oldest = *idle_lanes_.pop_front();
  const spec& s = *oldest.what;
  const auto at = lanes_.find(lane_key{s.name, s.how, s.take, s.capacity, s.ttl});
  const auto last = std::move(at->second);  // the key's view lives in it
  lanes_.erase(at);
}

void desk::leave(lane& l, wish& w) {
  l.line.leave(w);
  --wishes_;
}

void desk::cancel(const std::shared_ptr<wish>& w, tyer::failure why) {
  lane* l = w->queued_at;
  if (l == nullptr) return;
  leave(*l, *w);
  ticket* t = l->standing;
  if (t != nullptr && t->acquiring() != nullptr) {
    if (l->line.empty()) {
      detach(*t);
      retire(*t);
    } else {
      t->acquiring()->enqueue_from_now(limits_.unavailable_after);  // whoever is behind a try waits
    }
  }
  go_on(*l);
  finish(*w, std::move(why), nullptr);
}

// ---- a ticket that is being acquired

ticket* desk::find(const core::id& who) noexcept {
  const auto at = tickets_.find(who);
  return at == tickets_.end() ? nullptr : at->second.get();
}

void desk::ask(ticket& t) {
  if (asks_in_flight_ < limits_.asks_in_flight_max) return send_ask(t);
  asks_waiting_.push_back(t.who);
}

void desk::send_asks_that_waited() {
  while (!asks_waiting_.empty() && asks_in_flight_ < limits_.asks_in_flight_max) {
    ticket* t = find(asks_waiting_.front());
    asks_waiting_.pop_front();
    if (t == nullptr || t->acquiring() == nullptr) continue;
    t->acquiring()->on_sent(clock_.now());
    send_ask(*t);
  }
}

void desk::send_ask(ticket& t) {
  const spec& s = *t.what;
  engine::request r;
  r.what = {t.who, s.name, s.how};
  r.take = s.take;
  r.capacity = s.capacity;
  r.ttl = s.ttl;
  r.waiter_ttl = s.waiter_ttl;
  r.not_after = limits_.request_timeout;
  r.enqueue = t.acquiring()->enqueues();
  r.seen = t.home->seen;
  r.owner = t.owner;
  ++asks_in_flight_;
  engine_.acquire(r, [this, who = t.who](engine::outcome<engine::answer>&& o) { on_answer(who, std::move(o)); });
}

void desk::on_answer(const core::id& who, engine::outcome<engine::answer>&& o) {
  --asks_in_flight_;
  send_asks_that_waited();
  ticket* t = find(who);
  if (t == nullptr || t->held() != nullptr) return;
  if (t->releasing() != nullptr) return on_late_answer(*t, o);
  acquire& a = *t->acquiring();
  const auto now = clock_.now();
  if (auto* f = std::get_if<engine::failure>(&o.result)) {
    const auto kind = f->kind;
    t->last = to_public(std::move(*f));
    return act(*t, a.on_failure(now, kind));
  }
  const engine::answer& answer = std::get<engine::answer>(o.result);
  if (const auto* g = std::get_if<engine::granted>(&answer)) {
    t->part = g->part;
    t->via = g->via;
    t->home->seen = std::max(t->home->seen, g->part);
    return act(*t, a.on_granted(now, o.sent, g->part, g->ttl));
  }
  if (const auto* q = std::get_if<engine::queued>(&answer)) {
    if (!t->place.linked) keeper_.add(*t, fate::waiting, t->what->waiter_ttl, o.sent, jitter());
    return act(*t, a.on_queued(now, q->ahead == 0, q->look_again));
  }
  act(*t, a.on_busy(now, std::get<engine::busy>(answer).hint));
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
  return !(outage && first.limit != lease::time_point::max());
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

void desk::grant(ticket& t) {
  const auto until = t.acquiring()->valid_until();
  t.late_until = t.acquiring()->unsettled_until();
  keeper_.remove(t);
  t.owner.clear();
  t.stage = lease::tenure{until, t.what->ttl};
  const auto sent = until + lease::margin(t.what->ttl) - t.what->ttl;
  if (t.via == 0) keeper_.add(t, fate::holding, t.what->ttl, sent, jitter());
  t.home->line.on_granted();
  give(t, 0);
}

void desk::give(ticket& t, std::uint32_t handoff) {
  wish& first = static_cast<wish&>(*t.home->line.front());
  const auto alive = first.self;
  leave(*t.home, first);
  auto h =
      std::make_shared<detail::hold_state>(t.what, t.who, core::make_token(t.part, handoff), t.held()->valid_until());
  h->at_desk = &t;
  t.current = h;
  watch_.guard(h);
  finish(first, {}, std::move(h));
}

// ---- a ticket that is held

void desk::give_back(const hold_ptr& h, release_reply told) {
  const bool was_held = h->end(phase::released);
  ticket* t = std::exchange(h->at_desk, nullptr);
  if (t == nullptr) {
    if (told) told({}, release_outcome::already_gone);
    return;
  }
  t->current.reset();
  lease::tenure& held = *t->held();
  if (was_held && !closed_ && t->home->line.may_hand_off(held, clock_.now())) {
    give(*t, t->home->line.on_handed_off());
    if (told) told({}, release_outcome::released);
    return;
  }
  t->told = std::move(told);
  lane& l = *detach(*t);
  begin_release(*t, lease::release{t->late_until, held.valid_until()}, clock_.now());
  go_on(l);
}

// The alarm has rung: whatever the engine says, the hold is over, and must not be kept from others.
bool desk::told_lost(const ticket& t) noexcept { return t.current && t.current->where() == phase::lost; }

void desk::keep_what_is_due(lease::time_point now) {
  while (keeps_in_flight_ < limits_.keeps_in_flight_max) {
    auto b = keeper_.take(now);
    if (b.entries.empty()) return;
    if (b.as == fate::holding) {
      std::erase_if(b.entries, [&](lease::kept* e) {
        ticket& t = static_cast<ticket&>(*e);
        if (!t.held()->over(now) && !told_lost(t)) return false;
        lose_by_deadline(t);
        return true;
      });
    }
    if (!b.entries.empty()) send_keep(std::move(b));
  }
}

void desk::send_keep(lease::keeper::batch b) {
  std::vector<engine::target> targets;
  std::vector<core::id> ids;
  targets.reserve(b.entries.size());
  ids.reserve(b.entries.size());
  for (lease::kept* e : b.entries) {
    const ticket& t = static_cast<ticket&>(*e);
    targets.push_back({t.who, t.what->name, t.what->how});
    ids.push_back(t.who);
  }
  ++keeps_in_flight_;
  ++keeps_sent_;
  const auto ttl = std::chrono::duration_cast<std::chrono::milliseconds>(b.ttl);
  engine_.keep(targets, b.as, ttl,
               [this, as = b.as, ttl, ids = std::move(ids)](engine::outcome<std::vector<fate>>&& o) {
                 on_kept(ids, as, ttl, std::move(o));
               });
}

void desk::on_kept(const std::vector<core::id>& ids, fate as, lease::duration ttl,
                   engine::outcome<std::vector<fate>>&& o) {
  --keeps_in_flight_;
  const auto* fates = std::get_if<std::vector<fate>>(&o.result);
  const auto now = clock_.now();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ticket* t = find(ids[i]);
    if (t == nullptr || t->place.linked) continue;
    const bool stays = as == fate::holding
                           ? t->held() != nullptr
                           : t->acquiring() != nullptr && t->acquiring()->where() == acquire::state::queued;
    if (!stays) continue;
    if (fates == nullptr || i >= fates->size()) {
      keeper_.retry(*t, as, ttl, now);  // unknown neither extends nor ends
    } else if (as == fate::holding) {
      on_hold_kept(*t, (*fates)[i], o.sent, ttl);
    } else {
      on_waiter_kept(*t, (*fates)[i], o.sent, ttl);
    }
  }
  keep_what_is_due(now);
}

void desk::on_hold_kept(ticket& t, fate f, lease::time_point sent, lease::duration ttl) {
  if (f != fate::holding) return lose_by_proof(t, f);
  if (told_lost(t)) return lose_by_deadline(t);  // the answer came after the alarm: its owner has stopped
  if (t.held()->on_kept(sent, ttl) && t.current) t.current->extend(t.held()->valid_until());
  keeper_.add(t, fate::holding, ttl, sent, jitter());
}

void desk::on_waiter_kept(ticket& t, fate f, lease::time_point sent, lease::duration ttl) {
  if (f == fate::waiting) keeper_.add(t, fate::waiting, ttl, sent, jitter());
  act(t, t.acquiring()->on_kept(clock_.now(), f));
}

// The owner is told, and has nothing to do with the ticket any more.
void desk::take_from_owner(ticket& t) {
  const hold_ptr h = std::move(t.current);
  if (!h) return;
  h->at_desk = nullptr;
  if (h->end(phase::lost)) watch_.tell(h);
}

// The engine has it no more, or (after a restart from an old copy) as a waiter, whose place is given back.
void desk::lose_by_proof(ticket& t, fate is) {
  take_from_owner(t);
  lane& l = *detach(t);
  t.clean = false;
  const auto now = clock_.now();
  if (is != fate::gone || t.late_until > now) {
    begin_release(t, lease::release{t.late_until, now + t.what->ttl}, is != fate::gone ? now : t.late_until);
  } else {
    erase(t);
  }
  go_on(l);
}

// The engine may think for longer than we do that it is ours: give it back, but not before the window we promised ends.
void desk::lose_by_deadline(ticket& t) {
  const auto end = t.held()->valid_until();
  take_from_owner(t);
  lane& l = *detach(t);
  t.clean = false;
  begin_release(t, lease::release{std::max(end, t.late_until), end + t.what->ttl}, end);
  go_on(l);
}

// ---- a ticket on its way back

lane* desk::detach(ticket& t) noexcept {
  lane* l = std::exchange(t.home, nullptr);
  if (l != nullptr && l->standing == &t) l->standing = nullptr;
  keeper_.remove(t);
  return l;
}

// An attempt that nobody wants any more.
void desk::retire(ticket& t) {
  const acquire& a = *t.acquiring();
  if (!a.touched() && a.where() != acquire::state::asking) return erase(t);
  const auto settled = a.settled_at();
  const auto now = clock_.now();
  t.late_until = a.unsettled_until();
  begin_release(t, lease::release{settled, std::max(settled, now) + t.what->ttl}, now);
}

void desk::begin_release(ticket& t, lease::release r, lease::time_point first) {
  t.stage = std::move(r);
  lease::release& machine = *t.releasing();
  act(t, first <= clock_.now() ? machine.start() : machine.start_at(first));
}

void desk::send_release(ticket& t) {
  engine_.release({t.who, t.what->name, t.what->how}, t.clean,
                  [this, who = t.who](engine::outcome<fate>&& o) { on_release_answer(who, std::move(o)); });
}

void desk::on_release_answer(const core::id& who, engine::outcome<fate>&& o) {
  ticket* t = find(who);
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
      ticket_timers_.at(t.releasing()->wake_at(), t.who);
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

void desk::erase(ticket& t) {
  keeper_.remove(t);
  tickets_.erase(core::id{t.who});
}

// ---- time and events

void desk::on_time(lease::time_point now) {
  while (auto late = wish_timers_.pop_due(now)) {
    if (const auto w = late->lock()) cancel(w, {});  // running out of time is an answer, not an error
  }
  while (auto who = ticket_timers_.pop_due(now)) {
    ticket* t = find(*who);
    if (t == nullptr) continue;
    if (auto* a = t->acquiring()) {
      if (const auto v = a->on_time(now); v != acquire::verb::none) act(*t, v);
    } else if (auto* r = t->releasing()) {
      if (const auto v = r->on_time(now); v != lease::release::verb::none) act(*t, v);
    }
  }
  keep_what_is_due(now);
}

lease::time_point desk::next_due() const noexcept {
  const auto keep = keeps_in_flight_ < limits_.keeps_in_flight_max ? keeper_.next_due() : lease::time_point::max();
  return std::min({keep, wish_timers_.next(), ticket_timers_.next()});
}

void desk::wake(const core::id& who) {
  ticket* t = find(who);
  if (t == nullptr || t->acquiring() == nullptr) return;
  const auto v = t->acquiring()->on_wake(clock_.now());
  if (v != acquire::verb::none) act(*t, v);
}

void desk::suspect(const core::id& who) {
  ticket* t = find(who);
  if (t != nullptr && t->place.linked && t->held() != nullptr) keeper_.hurry(*t, fate::holding, t->what->ttl);
}

void desk::gone(const core::id& who) {
  ticket* t = find(who);
  if (t == nullptr) return;
  if (t->held() != nullptr) return lose_by_proof(*t, fate::gone);
  if (t->acquiring() != nullptr) act(*t, t->acquiring()->on_kept(clock_.now(), fate::gone));
}

void desk::session_kept(engine::session via, lease::time_point sent, std::chrono::milliseconds ttl) {
  for (const auto& [who, t] : tickets_) {
    if (t->via != via || t->held() == nullptr) continue;
    if (t->held()->on_kept(sent, ttl) && t->current) t->current->extend(t->held()->valid_until());
  }
}

void desk::session_gone(engine::session via) {
  std::vector<core::id> theirs;
  for (const auto& [who, t] : tickets_) {
    if (t->via == via && t->held() != nullptr) theirs.push_back(who);
  }
  for (const auto& who : theirs) gone(who);
}

void desk::asked(const core::id&, std::string_view) {}  // cooperative revocation: comes with hold::revoked()
void desk::changed(std::string_view) {}                 // for observers
void desk::down(const engine::failure&) {}              // every request under way gets its own answer

void desk::up(const engine::server_facts&) {
  keeper_.hurry_all();
  std::vector<core::id> all;
  all.reserve(tickets_.size());
  for (const auto& [who, t] : tickets_) all.push_back(who);
  const auto now = clock_.now();
  for (const auto& who : all) {
    ticket* t = find(who);
    if (t == nullptr) continue;
    if (auto* a = t->acquiring()) {
      if (const auto v = a->on_up(now); v != acquire::verb::none) act(*t, v);
    } else if (auto* r = t->releasing()) {
      if (const auto v = r->on_up(); v != lease::release::verb::none) act(*t, v);
    }
  }
  keep_what_is_due(now);
}

void desk::close() {
  closed_ = true;
  std::vector<core::id> all;
  for (const auto& [who, t] : tickets_) all.push_back(who);
  for (const auto& who : all) {
    ticket* t = find(who);
    if (t == nullptr) continue;
    if (auto* r = t->releasing()) {
      act(*t, r->on_up());  // no time to rest
    } else if (t->held() != nullptr) {
      take_from_owner(*t);
      const auto end = t->held()->valid_until();
      t->clean = false;
      detach(*t);
      begin_release(*t, lease::release{t->late_until, end}, clock_.now());
    } else {
      detach(*t);
      retire(*t);
    }
  }
  for (const auto& [key, l] : lanes_) {
    while (!l->line.empty()) {
      wish& w = static_cast<wish&>(*l->line.front());
      leave(*l, w);
      finish(w, errc::closed, nullptr);
    }
  }
}

void desk::abandon() {
  std::vector<release_reply> waiting;
  for (const auto& [who, t] : tickets_) {
    if (t->told) waiting.push_back(std::move(t->told));
  }
  for (auto& told : waiting)
    told({errc::closed, "the client was closed before the engine answered"}, release_outcome::unknown);
}

}  // namespace tyer::runtime
