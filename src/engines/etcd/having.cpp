// What this client has, and what the server tells about it: its turn, its end, a question.
#include "engines/etcd/core.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

constexpr auto again_after = 500ms;  // when a key could not be taken away

}  // namespace

etcd_engine::mine& etcd_engine::have(const std::string& name, const seat& s, time_point due) {
  mine& m = mine_[s.who];
  // What an answer says before the watch does is told all the same.
  if (m.created != 0 && m.created != s.created) events_->suspect(s.who);
  if (m.created == s.created && ((m.waits && !s.waits()) || (m.upgrading && s.how() == mode::exclusive))) {
    events_->wake(s.who);
  }
  m.name = name;
  m.created = s.created;
  m.key = keys_.seat(name, s.who);
  m.who = s.who;
  m.waits = s.waits();
  m.handed_over = s.record.state() == pb::Record::HANDED_OVER;
  m.upgrading = s.record.upgrading();
  m.alone = false;
  m.modified = s.modified;
  m.lease = s.lease;
  m.ttl = milliseconds{static_cast<std::int64_t>(s.record.ttl_ms())};
  m.waiter_ttl = milliseconds{static_cast<std::int64_t>(s.record.waiter_ttl_ms())};
  m.due = std::max(m.due, due);
  m.asked_count = std::max(m.asked_count, s.record.asked_count());
  if (!m.waits && !m.upgrading && m.ahead != 0) watches_.remove(std::exchange(m.ahead, 0));
  perhaps_written_.erase(m.key);
  dues_->set(m.key, m.modified, m.due);
  return m;
}

void etcd_engine::lose(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  stop_watching(at->second);
  dues_->forget(at->second.key);
  mine_.erase(at);
}

// Somebody else has taken it away, and an answer was quicker than the watch.
void etcd_engine::find_lost(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  const bool was_due = at->second.due <= environment_.clock->now();
  lose(who);
  if (!was_due && !closed_) events_->suspect(who);
}

void etcd_engine::forget_released(const id& who, fate was) {
  if (was == fate::gone) return find_lost(who);
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  if (was == fate::holding && at->second.waits && !closed_) events_->wake(who);  // its turn had just come
  lose(who);
}

void etcd_engine::stop_watching(mine& m) {
  for (auto* n : {&m.own, &m.ahead}) {
    if (*n != 0) watches_.remove(std::exchange(*n, 0));
  }
}

// From the write we know of: whatever has happened since is told too.
void etcd_engine::watch_own(mine& m) {
  if (m.own != 0) return;
  m.own = watches_.add({.keys = {m.key, {}},
                        .from = m.modified + 1,
                        .on_event = [this, who = m.who](const pb::Event& e) { own_changed(who, e); },
                        .on_gap = [this, who = m.who] { read_own(who); }});
}

void etcd_engine::own_changed(const id& who, const pb::Event& e) {
  const auto at = mine_.find(who);
  if (at == mine_.end() || e.kv().mod_revision() <= at->second.modified) return;
  mine& m = at->second;
  if (e.type() == pb::Event::DELETE) {
    lose(who);
    return events_->gone(who);
  }
  const auto record = read_value(e.kv().value());
  if (!record) return events_->suspect(who);
  m.modified = e.kv().mod_revision();
  m.lease = e.kv().lease();
  m.alone = false;
  const bool has_its_turn = m.waits && record->state() == pb::Record::HANDED_OVER;
  const bool is_upgraded = m.upgrading && !record->upgrading() && record->mode() == 0;
  const bool is_asked = record->asked_count() > m.asked_count;
  m.waits = record->state() == pb::Record::WAITING;
  m.handed_over = record->state() == pb::Record::HANDED_OVER;
  m.upgrading = record->upgrading();
  m.asked_count = std::max(m.asked_count, record->asked_count());
  if (has_its_turn) m.due = std::max(m.due, environment_.clock->now() + m.waiter_ttl);
  dues_->set(m.key, m.modified, m.due);
  if ((has_its_turn || is_upgraded) && m.ahead != 0) watches_.remove(std::exchange(m.ahead, 0));
  if (has_its_turn || is_upgraded) events_->wake(who);
  if (is_asked) events_->asked(who, record->asked());
}

void etcd_engine::read_own(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  at->second.own = 0;
  read_as_event(at->second.key, [this, who](const failure* f, const pb::Event& e) {
    if (!mine_.contains(who)) return;
    if (f != nullptr) return events_->suspect(who);  // keep() will find out, and up() brings the watch back
    own_changed(who, e);
    if (const auto kept = mine_.find(who); kept != mine_.end()) watch_own(kept->second);
  });
}

// --- who is ahead of a waiter ---

// Whoever lets go hands over to the next in the same step, and the next sees it at its own key. Only one that dies hands
// over nothing: so the head of the queue, and an upgrade, look out for all that end, and the others for the one before.
void etcd_engine::watch_ahead(mine& m, const ledger& l) {
  if (m.ahead != 0) watches_.remove(std::exchange(m.ahead, 0));
  if (!m.waits && !m.upgrading) return;
  key_range keys = keys_.room(m.name);
  const auto queue = l.queue();
  const auto at = std::ranges::find(queue, m.who, &seat::who);
  if (m.waits && at != queue.end() && at != queue.begin()) keys = {keys_.seat(m.name, (*std::prev(at))->who), {}};
  m.ahead = watches_.add({.keys = std::move(keys),
                          .from = l.revision() + 1,
                          .deletions_only = true,
                          .on_event = [this, who = m.who](const pb::Event&) { look_ahead(who); },
                          .on_gap =
                              [this, who = m.who] {
                                if (const auto mine = mine_.find(who); mine != mine_.end()) mine->second.ahead = 0;
                                look_ahead(who);
                              }});
}

void etcd_engine::look_ahead(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end() || at->second.looking) return;
  at->second.looking = true;
  const auto room = keys_.room(at->second.name);
  pb::RangeRequest r;
  r.set_key(room.from);
  r.set_range_end(room.to);
  link_.call<pb::RangeRequest, pb::RangeResponse>(method::range, std::move(r),
                                                  environment_.clock->now() + environment_.request_timeout,
                                                  [this, who](const failure* f, pb::RangeResponse& answer) {
                                                    const auto still = mine_.find(who);
                                                    if (still == mine_.end() || closed_) return;
                                                    still->second.looking = false;
                                                    if (f != nullptr) return;  // look_again, and up(), remain
                                                    link_.saw(answer.header());
                                                    auto l = ledger::from(keys_, answer, answer.header().revision());
                                                    if (auto* read = std::get_if<ledger>(&l))
                                                      seen_ahead(who, std::move(*read));
                                                  });
}

void etcd_engine::seen_ahead(const id& who, ledger l) {
  mine& m = mine_.at(who);
  if (!m.waits && !m.upgrading) return;
  l.turn();
  const seat* s = l.find(who);
  if (s == nullptr) return;  // told at its own key
  const bool has_its_turn = m.waits ? !s->waits() : !s->record.upgrading();
  watch_ahead(m, l);
  if (has_its_turn) events_->wake(who);
}

// --- what nobody kept ---

void etcd_engine::gave_up(const std::string& key, std::int64_t modified, bool deleted) {
  const auto where = keys_.read(key);
  if (!where || !where->who) return;
  const auto at = mine_.find(*where->who);
  if (at == mine_.end()) return look_later(key);
  if (at->second.modified != modified) return;
  if (deleted) return lose(*where->who);
  const auto now = environment_.clock->now();
  if (at->second.due <= now) dues_->set(key, modified, now + again_after);
}

}  // namespace tyer::etcd
