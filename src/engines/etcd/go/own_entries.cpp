// What this client has, and what the server tells about it: its turn, its end, a question.
#include "engines/etcd/go/engine.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd::go {

go_engine::mine* go_engine::own(const id& who, std::string_view name) {
  const auto at = mine_.find(who);
  return at != mine_.end() && at->second.name == name ? &at->second : nullptr;
}

std::set<std::int64_t> go_engine::named_after(const std::string& name) const {
  std::set<std::int64_t> all;
  const auto room = layout_.room(name);
  for (auto at = by_key_.lower_bound(room.from); at != by_key_.end() && at->first < room.to; ++at) {
    if (const mine& m = mine_.at(at->second); m.name == name) all.insert(m.named);
  }
  return all;
}

// A place ends a waiter's time later here than for its owner: when it became the first only the owner could know, and until
// the claim it has that long.
void go_engine::keep_until(mine& m, time_point due) {
  m.due = std::max(m.due, due);
  const milliseconds more{m.waits ? static_cast<std::int64_t>(m.record.waiter_ttl_ms()) : 0};
  overdue_->set(m.key, m.modified, m.due + more);
}

// Not what is over, even if the server still has it: it is being taken away, as it is.
bool go_engine::put_off(mine& m, time_point due) {
  const auto now = around().clock->now();
  return m.due > now && overdue_->put_off(m.key, m.modified, std::max(m.due, due));
}

void go_engine::lose(id who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  mine& m = at->second;
  for (const auto n : {m.own, m.ahead}) {
    if (n != 0) watches_.remove(n);
  }
  const auto key = std::move(m.key);
  by_key_.erase(key);
  mine_.erase(at);
  overdue_->forget(key);
  look_later(key);  // an old request may write it once more
}

// Somebody else has taken it away, and an answer was quicker than the watch.
void go_engine::find_lost(id who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  const bool was_due = at->second.due <= around().clock->now();
  if (at->second.waits && at->second.own != 0 && !was_due) its_turn(at->second);
  lose(who);
  if (!was_due) runtime().suspect(who);
}

void go_engine::watch_own(mine& m, std::int64_t known_as_of) {
  if (m.own != 0) return;
  m.own = watches_.add({.keys = {m.key, {}},
                        .from = known_as_of + 1,
                        .on_event = [this, who = m.who](const pb::Event& e) { own_changed(who, e); },
                        .on_gap = [this, who = m.who] { read_own(who); },
                        .on_refused = [this, who = m.who] { ask_again(who); }});
}

void go_engine::own_changed(const id& who, const pb::Event& e) {
  const auto at = mine_.find(who);
  if (at == mine_.end() || e.kv().mod_revision() <= at->second.modified || at->second.leaving) return;
  mine& m = at->second;
  if (e.type() == pb::Event::DELETE || e.kv().create_revision() != m.created) {
    if (m.waits) its_turn(m);  // perhaps it was, and nobody will find out any more
    lose(who);
    return runtime().gone(who);
  }
  m.modified = e.kv().mod_revision();
  m.lease = e.kv().lease();
  keep_until(m, m.due);
  auto record = read_value(e.kv().value());
  if (!record) return;  // what it says is for us only, and whether it holds is not said there
  const bool is_asked = record->asked_count() > m.record.asked_count();
  m.record = *std::move(record);
  if (is_asked) runtime().asked(who, m.record.asked());
}

void go_engine::read_own(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  at->second.own = 0;
  catch_up(who, at->second.key);
}

void go_engine::watch_own_from(const id& who, std::int64_t known_as_of) {
  if (const auto at = mine_.find(who); at != mine_.end()) watch_own(at->second, known_as_of);
}

// Its watch was refused. Whoever waits, or holds, is told so by the answer to what it asks now.
void go_engine::ask_again(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end() || closed()) return;
  at->second.waits ? its_turn(at->second) : runtime().suspect(who);
}

// --- who is ahead of a waiter ---

// Only the one just before: so whoever goes wakes one, not all. If that was the holder, there is nothing more to find out:
// nobody comes before those who are there.
void go_engine::watch_ahead(mine& m, const std::string& key, bool holds, std::int64_t revision) {
  if (m.ahead != 0) watches_.remove(std::exchange(m.ahead, 0));
  const auto went = [this, who = m.who, holds](const pb::Event&) {
    const auto at = mine_.find(who);
    if (at == mine_.end()) return;
    holds ? its_turn(at->second) : look_ahead(who);
  };
  m.ahead = watches_.add({.keys = {key, {}},
                          .from = revision + 1,
                          .deletions_only = true,
                          .on_event = went,
                          .on_gap = [this, who = m.who] {
                            if (const auto at = mine_.find(who); at != mine_.end()) at->second.ahead = 0;
                            look_ahead(who);
                          }});
}

// The one before it may have given up its place only: then the next one before is the one to wait for.
void go_engine::look_ahead(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end() || !at->second.waits || !looks_.begin(who)) return;
  pb::RangeRequest r;
  read_all(r, layout_.room(at->second.name));
  r.set_max_create_revision(at->second.created);
  link_.call<pb::RangeRequest, pb::RangeResponse>(
      method::range, std::move(r), around().clock->now() + around().request_timeout,
      [this, who](const failure* f, pb::RangeResponse& answer) {
        looks_.end(who);
        const auto still = mine_.find(who);
        if (still == mine_.end() || closed()) return;
        mine& m = still->second;
        if (f != nullptr || !m.waits) return;  // look_again, and up(), remain
        link_.saw(answer.header());
        const auto read = go::read(layout_, m.name, answer);
        const auto* all = std::get_if<0>(&read);
        if (all == nullptr) return its_turn(m);  // asking again will tell what is wrong
        const auto here = std::ranges::find(*all, m.created, &place::created);
        // Taken away meanwhile, and perhaps after its turn had come: asking again will tell that too.
        if (here == all->begin() || here == all->end()) return its_turn(m);
        watch_ahead(m, std::prev(here)->key, std::prev(here) == all->begin(), answer.header().revision());
      });
}

void go_engine::its_turn(mine& m) {
  if (m.ahead != 0) watches_.remove(std::exchange(m.ahead, 0));
  if (!std::exchange(m.woken, true) && !m.leaving) runtime().wake(m.who);
}

}  // namespace tyer::etcd::go
