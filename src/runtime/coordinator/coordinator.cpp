#include "runtime/coordinator/coordinator.hpp"

#include "core/for_ever.hpp"
#include "core/owner.hpp"
#include "core/token.hpp"
#include "runtime/failures.hpp"
#include "runtime/hold_state.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace tyer::runtime {

using core::fate;
using lease::acquire;
using phase = detail::hold_state::phase;

namespace {

tyer::failure unanswered() noexcept try {
  return {errc::closed, "the client was closed before the engine answered"};
} catch (const std::bad_alloc&) {
  return errc::closed;
}

}  // namespace

coordinator::coordinator(engine::engine& e, const core::clock& c, core::id_source& ids, watcher& w, const limits& l,
                         mutex* m)
    : engine_(e),
      clock_(c),
      ids_(ids),
      watch_(w),
      limits_(l),
      mutex_(m),
      dice_(ids.nonce() | 1),
      keeper_(e.can().keep_batch, l.keeps_in_flight_max) {}

// Acquisitions that nobody will answer any more must not keep themselves alive.
coordinator::~coordinator() {
  under_way_->home = nullptr;
  for (const auto& [key, l] : lanes_) drop_line(*l);
  for (const auto& [key, l] : apart_) drop_line(*l);
  while (asker* a = askers_.pop_front()) {  // owned by the engine, which drops them, or by themselves
    const auto last = std::move(a->self);
  }
}

void coordinator::drop_line(lane& l) noexcept {
  while (!l.line.empty()) {
    acquisition& w = static_cast<acquisition&>(*l.line.front());
    l.line.leave(w);
    w.queued_at = nullptr;
    const auto last = std::move(w.self);
  }
}

double coordinator::jitter() noexcept {
  dice_ ^= dice_ << 13;
  dice_ ^= dice_ >> 7;
  dice_ ^= dice_ << 17;
  return static_cast<double>(dice_ >> 11) / static_cast<double>(std::uint64_t{1} << 53);
}

// ---- lanes and their acquisitions

lane& coordinator::lane_for(const std::shared_ptr<const spec>& what) {
  const lane_key key = key_of(*what);
  if (const auto at = lanes_.find(key); at != lanes_.end()) {
    if (at->second->idle.linked) idle_lanes_.erase(*at->second);
    return *at->second;
  }
  auto fresh = std::make_unique<lane>(what);
  return *lanes_.emplace(key, std::move(fresh)).first->second;
}

// An exception from `done` must not reach the code that answers. For a call with a handler it means that the handler could
// not be queued because memory is exhausted: then nobody is left to be answered.
void coordinator::tell(acquisition& w, tyer::failure f, hold_ptr h) noexcept {
  const auto last = std::move(w.self);
  w.queued_at = nullptr;
  try {
    w.done(std::move(f), std::move(h));
  } catch (...) {}
}

void coordinator::finish(acquisition& w, tyer::failure f, hold_ptr h) noexcept {
  count_answer(w, f, h.get());
  tell(w, std::move(f), std::move(h));
}

void coordinator::want(std::shared_ptr<acquisition> w) {
  if (closed_) return tell(*w, errc::closed, nullptr);  // there may be no driver any more: nothing else may be touched
  lane* l = nullptr;
  try {
    if (acquisitions_ >= limits_.acquisitions_max) {
      board_.turned_away(limit_set_by::client);
      return finish(*w, {errc::over_limit, "too many callers wait in this client"}, nullptr);
    }
    l = &lane_for(w->what);
    if (!w->waits && known_taken(*l)) return finish(*w, {}, nullptr);
    if (asks_for_itself(*w, *l)) l = &lane_apart(*l);
    acquisition_times_.admit();
  } catch (const std::bad_alloc&) {
    if (l != nullptr) go_on(*l);
    return finish(*w, no_memory(), nullptr);
  }
  const bool first = l->standing == nullptr;
  if (first) {
    l->taken = false;
    l->in_time();
    l->expect(clock_.now());
  }
  place(*l, w);
  if (first) go_on(*l);
}

// It was admitted to acquisition_times_ before.
void coordinator::place(lane& l, const std::shared_ptr<acquisition>& w) noexcept {
  w->self = w;
  w->queued_at = &l;
  if (w->since == lease::time_point{}) w->since = clock_.now();
  if (!w->waits) w->limit = std::min(w->limit, w->since + limits_.request_timeout);
  ++acquisitions_;
  board_.begins_to_wait(group_of(*w->what));
  if (!w->waits) ++l.tries;
  l.line.join(*w);
  acquisition_times_.set(*w, due_of(*w));
  plan_to_tell(l, *w);
}

bool coordinator::join(const std::shared_ptr<acquisition>& w) {
  if (closed_ || acquisitions_ >= limits_.acquisitions_max || w->limit != lease::time_point::max()) return false;
  const auto at = lanes_.find(key_of(*w->what));
  if (!w->waits || at == lanes_.end() || at->second->standing == nullptr || at->second->silent_since) return false;
  acquisition_times_.admit();
  place(*at->second, w);
  return true;
}

// True if a single attempt can be refused without a request. A ticket without an answer proves nothing, however long the
// line behind it. Nor does a reader or a permit that asks: they do not exclude each other, so the next one may be granted
// too.
bool coordinator::known_taken(const lane& l) noexcept {
  if (l.standing == nullptr || !l.taken) return false;
  const auto* a = l.standing->acquiring();
  return a == nullptr || l.what->how == engine::mode::exclusive || a->where() != acquire::state::asking;
}

// Readers and permits do not block each other: when many come at once, the last must not wait for all answers before its
// own, run out of time and report an outage. An acquisition without a limit can wait; and nobody overtakes those in line.
bool coordinator::asks_for_itself(const acquisition& w, const lane& l) noexcept {
  if (l.what->how == engine::mode::exclusive || l.standing == nullptr || l.standing->acquiring() == nullptr)
    return false;
  if (!w.waits) return true;
  const bool asks = l.standing->acquiring()->where() == acquire::state::asking;
  return asks && w.limit != lease::time_point::max() && !l.silent_since && l.line.size() == 1;
}

lane& coordinator::lane_apart(lane& l) {
  auto fresh = std::make_unique<lane>(l.what);
  lane& own = *fresh;
  apart_.emplace(&own, std::move(fresh));
  own.apart = true;
  own.beside = &l;
  ++l.tickets;
  return own;
}

// Its grant may then be handed off to those in line there.
void coordinator::join_the_others(ticket& t) noexcept {
  lane& own = *t.home;
  t.home = std::exchange(own.beside, nullptr);
  own.standing = nullptr;
  --own.tickets;
  go_on(own);
}

// If it throws, nothing was begun.
void coordinator::begin(lane& l) {
  acquisition& first = static_cast<acquisition&>(*l.line.front());
  const bool waits = first.waits;
  // Each waiting acquisition has a patience of its own (coordinator/patience.cpp).
  auto fresh = std::make_unique<ticket>(acquire{{.ttl = l.what->ttl,
                                                 .waiter_ttl = l.what->waiter_ttl,
                                                 .patience = waits ? core::for_ever : limits_.request_timeout,
                                                 .not_after = limits_.request_timeout,
                                                 .enqueue = waits}});
  ticket& t = *fresh;
  t.who = ids_.next();
  t.what = l.what;
  t.how = l.what->how;
  const auto& where = first.where;
  t.owner = core::owner_text(l.what->owner, where.file_name(), where.line(), clock_.wall(), l.what->note);
  const auto at = tickets_.emplace(t.who, std::move(fresh)).first;
  try {
    ticket_times_.admit();
  } catch (...) {
    tickets_.erase(at);
    throw;
  }
  t.home = &l;
  ++l.tickets;
  l.standing = &t;
  const auto now = clock_.now();
  if (!l.silent_since) l.expect(now);  // else those in line count the same silence on
  act(t, t.acquiring()->start(now));
}

// The lane has no standing ticket any more: the next acquisition begins, or the lane becomes idle.
void coordinator::go_on(lane& l) noexcept {
  if (closed_ || l.standing != nullptr || l.idle.linked) return;
  while (!l.line.empty()) {
    try {
      return begin(l);
    } catch (const std::bad_alloc&) {  // only that call fails
      acquisition& first = static_cast<acquisition&>(*l.line.front());
      leave(l, first);
      finish(first, no_memory(), nullptr);
    }
  }
  if (l.tickets == 0) put_aside(l);
}

void coordinator::put_aside(lane& l) noexcept {
  if (l.apart) {
    lane* others = l.beside;
    apart_.erase(&l);
    if (others == nullptr) return;
    --others->tickets;
    return go_on(*others);
  }
  idle_lanes_.push_back(l);
  if (idle_lanes_.size() <= limits_.idle_lanes_max) return;
  const lane& oldest = *idle_lanes_.pop_front();
  const auto at = lanes_.find(key_of(*oldest.what));
  const auto last = std::move(at->second);  // the key's view lives in it
  lanes_.erase(at);
}

void coordinator::leave(lane& l, acquisition& w) noexcept {
  const bool waited_longest = l.line.front() == &w;
  l.line.leave(w);
  acquisition_times_.dismiss(w);
  if (!w.waits) --l.tries;
  if (l.line.empty()) {
    l.slow_again_at = {};
  } else if (waited_longest && l.slow_again_at != lease::time_point{}) {  // that was counted from when this one came
    l.slow_again_at = std::min(l.slow_again_at, clock_.now() + slow_wait_);
  }
  --acquisitions_;
  board_.waits_no_more(group_of(*w.what));
}

void coordinator::cancel(const std::shared_ptr<acquisition>& w, tyer::failure why) {
  lane* l = w->queued_at;
  if (l == nullptr) return;
  leave(*l, *w);
  ticket* t = l->standing;
  if (t != nullptr && t->acquiring() != nullptr) stand_for_the_rest(*l);
  go_on(*l);
  finish(*w, std::move(why), nullptr);
}

// One in line has left, and the ticket that asks for them was perhaps made for that one: after a try, it queues for those
// who wait. If nobody is left, it leaves the engine's queue.
void coordinator::stand_for_the_rest(lane& l) {
  ticket& t = *l.standing;
  if (l.line.empty()) {
    detach(t);
    retire(t);
  } else if (static_cast<const acquisition&>(*l.line.front()).waits) {
    t.acquiring()->enqueue_from_now(core::for_ever);
  }
}

void acquisition::call_off(coordinator& d) { d.cancel(shared_from_this(), called_off); }
void change::call_off(coordinator& d) { d.cancel(shared_from_this(), called_off); }

// ---- events

void coordinator::wake(const core::id& who) {
  ticket* t = find(who);
  if (t == nullptr) return;
  const auto now = clock_.now();
  if (t->changing) return act(*t, t->changing->machine.on_wake(now));
  if (t->acquiring() == nullptr) return;
  const auto v = t->acquiring()->on_wake(now);
  if (v != acquire::verb::none) act(*t, v);
}

void coordinator::suspect(const core::id& who) {
  ticket* t = find(who);
  if (t == nullptr || !t->place.linked || t->held() == nullptr) return;
  try {
    keeper_.hurry(*t, fate::holding, t->what->ttl);
  } catch (const std::bad_alloc&) {  // only a hint: the renewal comes at its usual time
  }
}

void coordinator::gone(const core::id& who) {
  ticket* t = find(who);
  if (t == nullptr) return;
  if (t->held() != nullptr) return lose_by_proof(*t, fate::gone);
  if (t->acquiring() != nullptr) act(*t, t->acquiring()->on_kept(clock_.now(), fate::gone));
}

void coordinator::asked(const core::id& who, std::string_view reason) {
  ticket* t = find(who);
  if (t == nullptr || (t->held() == nullptr && t->acquiring() == nullptr)) return;
  t->asked_back = true;  // also for a waiter that was handed the lock and does not know it yet
  if (!t->current) return;
  watch_.ask(t->current);
  report_asked(*t->current, reason);
}

void coordinator::changed(std::string_view name) { look_all(name); }
void coordinator::queue_changed(std::string_view name) { look_all(name, true); }

// Each request under way gets its own answer.
void coordinator::down(const engine::failure& f) {
  presence_.down(clock_.now());
  report_down(f);
}

void coordinator::up(const engine::server_facts& server) {
  met_ = true;
  const auto how = presence_.up(server.id, clock_.now());
  count_return(how);
  report_up(server, how);
  keeper_.hurry_all();
  std::vector<core::id> all;
  try {
    all.reserve(tickets_.size());
    for (const auto& [who, t] : tickets_) all.push_back(who);
  } catch (const std::bad_alloc&) {  // each repeats its request at its own time
  }
  const auto now = clock_.now();
  for (const auto& who : all) {
    ticket* t = find(who);
    if (t == nullptr) continue;
    if (auto* a = t->acquiring()) {
      if (const auto v = a->on_up(now); v != acquire::verb::none) act(*t, v);
    } else if (auto* r = t->releasing()) {
      if (const auto v = r->on_up(); v != lease::release::verb::none) act(*t, v);
    } else if (t->changing) {
      if (t->upgraded) confirm_upgrade(*t);
      act(*t, t->changing->machine.on_up(now));
    }
  }
  keep_what_is_due(now);
  send_askers();
  look_all({});
}

// No new tickets come, so each step ends at most its own ticket, and the iterator to the next one stays valid.
void coordinator::close() {
  closed_ = true;
  for (auto at = tickets_.begin(); at != tickets_.end();) {
    ticket& t = *at->second;
    ++at;
    if (auto* r = t.releasing()) {
      act(t, r->on_up());  // retry without backoff
    } else if (t.held() != nullptr) {
      close_held(t);
    } else if (t.lost() != nullptr) {
      const auto end = t.lost()->end;  // the delay begins with the release, so not before the owner's validity ends
      take_from_owner(t, loss_reason::closed);
      begin_release(t, lease::release{t.late_until, end}, end);
    } else {
      detach(t);
      retire(t);
    }
  }
  for (const auto& [key, l] : lanes_) close_line(*l);
  for (const auto& [key, l] : apart_) close_line(*l);
  close_askers();
}

void coordinator::close_line(lane& l) noexcept {
  while (!l.line.empty()) {
    acquisition& w = static_cast<acquisition&>(*l.line.front());
    leave(l, w);
    finish(w, errc::closed, nullptr);
  }
}

// The owner loses the hold. If its min_hold is not over, the lock stays taken for the rest, as if the client still existed.
void coordinator::close_held(ticket& t) {
  const auto now = clock_.now();
  const auto free_at = t.current ? t.current->free_at() : t.rests_until.value_or(now);
  const changes unanswered = take_changes(t);
  take_from_owner(t, loss_reason::closed);
  if (now < free_at) {
    leave_behind(t, free_at);
  } else {
    const auto end = t.held()->valid_until();
    t.clean = false;
    detach(t);
    begin_release(t, lease::release{t.late_until, end}, now);
  }
  answer_all(unanswered, errc::closed);
}

void coordinator::abandon() {
  for (auto at = tickets_.begin(); at != tickets_.end();) {
    auto told = std::move(at->second->told);
    ++at;
    if (told) told(unanswered(), release_outcome::unknown);
  }
}

}  // namespace tyer::runtime
