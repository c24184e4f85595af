// What this client has, and what the server tells about it: its turn, its end, a question.
#include "engines/etcd/locks/engine.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

constexpr auto again_after = 500ms;  // when something else lies there, or nothing yet
constexpr auto idle_watch_max = 10s;

}  // namespace

etcd_engine::mine& etcd_engine::have(const std::string& name, const seat& s, time_point due) {
  // First all that takes memory: what is known is never half of the old and half of the new.
  auto known_as = name, key = keys_.seat(name, s.at);
  auto to_claim = s.record.state() == pb::Record::HANDED_OVER ? write_value(s.record) : std::string{};
  auto line = s.record.line();
  mine& m = mine_[s.who];
  // What an answer says before the watch does is told all the same.
  if (m.created != 0 && m.created != s.created) {
    m.seen_under = 0;
    stop_looking_out(m);
    if (m.key != key) let_go_of_watch(m);
    runtime().suspect(s.who);
  }
  if (m.created == s.created && ((m.waits && !s.waits()) || (m.upgrading && s.how() == mode::exclusive))) {
    runtime().wake(s.who);
  }
  m.name = std::move(known_as);
  m.created = s.created;
  m.key = std::move(key);
  m.who = s.who;
  m.waits = s.waits();
  m.handed_over = s.record.state() == pb::Record::HANDED_OVER;
  m.upgrading = s.record.upgrading();
  m.to_claim = std::move(to_claim);
  if (!line.empty()) m.line = std::move(line);
  m.exclusive = s.how() == mode::exclusive;
  m.permits = s.how() == mode::permit;
  m.modified = s.modified;
  m.lease = s.lease;
  m.ttl = milliseconds{static_cast<std::int64_t>(s.record.ttl_ms())};
  m.waiter_ttl = milliseconds{static_cast<std::int64_t>(s.record.waiter_ttl_ms())};
  m.lease_ttl = milliseconds{static_cast<std::int64_t>(s.record.lease_ms())};
  m.due = std::max(m.due, due);
  m.asked_count = std::max(m.asked_count, s.record.asked_count());
  if (!m.waits && !m.upgrading) stop_looking_out(m);
  overdue_->set(m.key, m.modified, m.due);
  return m;
}

void etcd_engine::lose(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  stop_watching(at->second);
  const auto name = std::move(at->second.name), key = std::move(at->second.key);
  mine_.erase(at);
  overdue_->forget(key);
  look_later(key);  // an old request may write it once more
  free_number(name, who);
}

// Also behind an answer, where nothing may keep the next of that name from its turn: without memory the number is not used again.
void etcd_engine::free_number(const std::string& name, const id& who) noexcept try {
  if (const auto at = numbers_.find(name, who)) free_if_done(name, *at);
} catch (const std::bad_alloc&) {  // not even for its key
}

// Whoever has it may still write there, or have something there; so may an old request. And as long as it is to be looked for,
// what is found there must be known for its own.
void etcd_engine::free_if_done(const std::string& name, const id& at) {
  const auto who = numbers_.whose(name, at);
  if (!who || mine_.contains(*who) || asking_.contains(*who)) return;
  const auto key = keys_.seat(name, at);
  if (!is_in_doubt(key) && !overdue_->awaits(key)) numbers_.free(name, at);
}

// Somebody else has taken it away, and an answer was quicker than the watch.
void etcd_engine::find_lost(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  const bool was_due = at->second.due <= around().clock->now();
  lose(who);
  if (!was_due) runtime().suspect(who);
}

void etcd_engine::forget_released(const id& who, fate was) {
  if (was == fate::gone) return find_lost(who);
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  if (was == fate::holding && at->second.waits) runtime().wake(who);  // its turn had just come
  lose(who);
}

void etcd_engine::stop_watching(mine& m) {
  let_go_of_watch(m);
  stop_looking_out(m);
}

time_point etcd_engine::next_look() const {
  const auto idle = idle_watches_.empty() ? time_point::max() : idle_watches_.begin()->first;
  const auto look_out = looks_.may_begin() ? lookouts_.next() : time_point::max();
  return std::min({looks_.next(), look_out, idle, fresh_.ask_again_at()});
}

void etcd_engine::look_now(time_point now) {
  end_idle_watches(now);
  while (const auto who = looks_.take_due(now)) look_ahead(*who);
  while (looks_.may_begin()) {
    const auto who = lookouts_.take_due(now);
    if (!who) break;
    look_ahead(*who);
  }
  if (fresh_.is_to_ask_again(now, watches_.stream_number())) watches_.ask_progress();
}

// --- the own key ---

// From the write we know of: whatever has happened since is told too. Of a hold that write too, if it was the last: etcd does not say how
// far it is while a watch is to begin later, and nobody may write anything for long. A waiter is in a hurry, and a watch that
// begins in the past is begun a little later.
void etcd_engine::watch_own(mine& m) {
  const bool its_write_too = !m.waits && m.modified >= link_.revision();
  watch_own(m, its_write_too ? m.modified - 1 : m.modified);
}

void etcd_engine::watch_own(mine& m, std::int64_t known_as_of) {
  if (m.own != 0) return;
  m.seen_under = 0;
  const auto [at, fresh] = key_watches_.try_emplace(m.key);
  auto& w = at->second;
  if (fresh) w.number = watch_key(m.key, known_as_of);
  if (const auto idle = std::exchange(w.idle, std::nullopt)) idle_watches_.erase(*idle);
  m.own = w.number;
  // Its turn may have come before the answer that gave it its place.
  if (const auto e = std::exchange(w.last, std::nullopt); e && e->kv().mod_revision() > known_as_of) {
    link_.later([this, who = m.who, e = *e] {
      if (!closed()) own_changed(who, e);
    });
  }
}

watches::number etcd_engine::watch_key(const std::string& key, std::int64_t known_as_of) {
  return watches_.add({.keys = {key, {}},
                       .from = known_as_of + 1,
                       .on_event = [this, key](const pb::Event& e) { key_changed(key, e); },
                       .on_gap = [this, key] { key_missed(key); },
                       .on_refused =
                           [this, key] {
                             if (const mine* const m = find_mine(key)) ask_again(id{m->who});
                           }});
}

void etcd_engine::key_changed(const std::string& key, const pb::Event& e) {
  if (const mine* const m = find_mine(key)) return own_changed(id{m->who}, e);
  const auto w = key_watches_.find(key);
  if (w != key_watches_.end() && e.kv().key() == key) w->second.last = e;
}

void etcd_engine::key_missed(const std::string& key) {
  const auto w = key_watches_.find(key);
  if (w == key_watches_.end()) return;
  if (const auto idle = w->second.idle) idle_watches_.erase(*idle);
  key_watches_.erase(w);
  if (const mine* const m = find_mine(key); m != nullptr && m->own != 0) read_own(id{m->who});
}

void etcd_engine::let_go_of_watch(mine& m) {
  if (m.own == 0) return;
  if (const auto w = key_watches_.find(m.key); w != key_watches_.end() && !w->second.idle) {
    w->second.idle = idle_watches_.emplace(around().clock->now() + idle_watch_max, m.key);
  }
  m.own = 0;
}

void etcd_engine::end_idle_watches(time_point now) {
  for (; !idle_watches_.empty() && idle_watches_.begin()->first <= now; idle_watches_.erase(idle_watches_.begin())) {
    const auto w = key_watches_.find(idle_watches_.begin()->second);
    watches_.remove(w->second.number);
    key_watches_.erase(w);
  }
}

void etcd_engine::own_changed(const id& who, const pb::Event& e) {
  const auto at = mine_.find(who);
  if (at == mine_.end() || e.kv().key() != at->second.key || e.kv().mod_revision() <= at->second.modified) return;
  mine& m = at->second;
  if (e.type() == pb::Event::DELETE || e.kv().create_revision() != m.created) {
    lose(who);
    remember_for_who_asks(who, e);
    return runtime().gone(who);
  }
  auto record = read_value(e.kv().value());
  if (!record) {
    m.seen_under = 0;  // so that it is read
    return runtime().suspect(who);
  }
  auto to_claim = record->state() == pb::Record::HANDED_OVER ? e.kv().value() : std::string{};
  m.modified = e.kv().mod_revision();
  m.lease = e.kv().lease();
  m.lease_ttl = milliseconds{static_cast<std::int64_t>(record->lease_ms())};
  const bool has_its_turn = m.waits && record->state() == pb::Record::HANDED_OVER;
  const bool is_upgraded = m.upgrading && !record->upgrading() && record->mode() == 0;
  const bool is_asked = record->asked_count() > m.asked_count;
  m.waits = record->state() == pb::Record::WAITING;
  m.handed_over = record->state() == pb::Record::HANDED_OVER;
  m.upgrading = record->upgrading();
  m.to_claim = std::move(to_claim);
  m.exclusive = record->mode() == 0;
  m.asked_count = std::max(m.asked_count, record->asked_count());
  if (has_its_turn) be_told_of_turn(m, *record->mutable_line());
  // One that is overdue goes at once. Whoever asks for it meanwhile may have just written it, and be about to have it.
  const auto now = around().clock->now();
  const bool spared = m.due <= now && asking_.contains(who);
  spared ? overdue_->set(m.key, 0, now + again_after) : overdue_->set(m.key, m.modified, m.due);
  if (has_its_turn || is_upgraded) stop_looking_out(m);
  if (m.waits) look_out(m, look_out_after);
  if (has_its_turn || is_upgraded) runtime().wake(who);
  if (is_asked) runtime().asked(who, record->asked());
}

// An answer may be on its way that says it has it, as of before.
void etcd_engine::remember_for_who_asks(const id& who, const pb::Event& e) {
  if (!asking_.contains(who)) return;
  if (const auto w = key_watches_.find(e.kv().key()); w != key_watches_.end()) w->second.last = e;
}

// What came about its key before the answer that gave it.
bool etcd_engine::was_told_of_more(const mine& m) const {
  const auto w = key_watches_.find(m.key);
  return w != key_watches_.end() && w->second.last && w->second.last->kv().mod_revision() > m.modified;
}

// It has one waiter lease from now on to claim it.
void etcd_engine::be_told_of_turn(mine& m, std::string& line) {
  const auto now = around().clock->now();
  m.line = std::move(line);
  m.due = std::max(m.due, now + m.waiter_ttl);
  leases_.make_last(m.lease, m.lease_ttl, m.waiter_ttl);
}

void etcd_engine::read_own(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  at->second.own = 0;
  catch_up(who, at->second.key);
}

void etcd_engine::watch_own_from(const id& who, std::int64_t known_as_of) {
  if (const auto at = mine_.find(who); at != mine_.end()) watch_own(at->second, known_as_of);
}

// Its watch was refused. Whoever waits, or holds, is told so by the answer to what it asks now.
void etcd_engine::ask_again(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end() || closed()) return;
  at->second.waits ? runtime().wake(who) : runtime().suspect(who);
}

// --- what nobody kept ---

void etcd_engine::gave_up(const std::string& key, std::int64_t modified, bool gone) {
  const auto where = keys_.read(key);
  if (!where || !where->at) return;
  const mine* const m = find_mine(key);
  const auto now = around().clock->now();
  if (m == nullptr) {
    if (!gone && !overdue_->awaits(key)) overdue_->set(key, 0, now + again_after);  // it had its turn just then
    look_later(key);
    return free_if_done(where->name, *where->at);
  }
  if (m->modified > modified) return;  // written anew since
  if (gone) return find_lost(id{m->who});
  if (m->due <= now) overdue_->set(key, 0, now + again_after);  // the watch may tell what it is before
}

// --- what may have been written by a request whose answer got lost ---

void etcd_engine::found_written(const std::string& key, const pb::KeyValue& there) {
  if (closed() || overdue_->awaits(key)) return;  // it has been asked for since
  const auto where = keys_.read(key);
  if (!where || !where->at) return;
  const auto now = around().clock->now();
  const mine* const m = find_mine(key);
  const auto who = m != nullptr ? m->who : numbers_.whose(where->name, *where->at).value_or(id{});
  // Whoever asks for it may have just written it, and be about to have it.
  if (asking_.contains(who)) return overdue_->set(key, 0, now + again_after);
  const auto record = read_value(there.value());
  if (record && who && who_is(*record, *where->at) == who) return overdue_->set(key, there.mod_revision(), now);
  if (m != nullptr && m->due <= now) return lose(who);
  look_later(key);
  free_if_done(where->name, *where->at);
}

// Nobody but this client writes at its own numbers; but it may have what another has written.
etcd_engine::mine* etcd_engine::find_mine(const std::string& key) {
  const auto where = keys_.read(key);
  if (!where || !where->at) return nullptr;
  const auto who = numbers_.whose(where->name, *where->at);
  if (!who && numbers_.has(*where->at)) return nullptr;
  const auto at = who ? mine_.find(*who) : std::ranges::find_if(mine_, [&](auto& m) { return m.second.key == key; });
  return at != mine_.end() && at->second.key == key ? &at->second : nullptr;
}

}  // namespace tyer::etcd
