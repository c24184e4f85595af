// Who is ahead of one that waits, and may die: whom it watches, and when it looks itself.
#include "engines/etcd/as_of.hpp"
#include "engines/etcd/locks/engine.hpp"
#include "engines/etcd/locks/transactions.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

constexpr auto gone_together = 5ms;        // what goes with it in the same step
constexpr auto look_out_again_after = 2s;  // when nobody answered

}  // namespace

// Whoever lets go hands over to the next in the same step, and the next sees it at its own key. Only one that dies hands
// over nothing: so the head of the queue, and an upgrade, look out for those who hold, and the others for the one before. What
// was written together with it at the own key comes at about the same time, and then there is nothing to look for.
void etcd_engine::watch_ahead(mine& m, const ledger& l) {
  if (m.ahead != 0) watches_.remove(std::exchange(m.ahead, 0));
  if (!m.waits && !m.upgrading) return;
  const seat* const one = ahead_of(m, l);
  // Once one that shares has its turn, it may be any other that is still in the way.
  const bool its_turn_too = one != nullptr && one->waits() && !m.exclusive && one->how() != mode::exclusive;
  m.ahead = watches_.add({.keys = one != nullptr ? key_range{keys_.seat(m.name, one->at), {}} : keys_.room(m.name),
                          .from = l.read_at() + 1,
                          .deletions_only = !its_turn_too,
                          .on_event = [this, who = m.who](const pb::Event&) { look_after(who, gone_together); },
                          .on_gap =
                              [this, who = m.who] {
                                if (const auto mine = mine_.find(who); mine != mine_.end()) mine->second.ahead = 0;
                                look_after(who, {});
                              }});
}

// The one that has to go before it can be its turn, whoever else comes and goes: the waiter before it, or any of the holders, if they
// all have to go. None: it may be its turn when one of several has gone.
const seat* etcd_engine::ahead_of(const mine& m, const ledger& l) {
  const auto queue = l.queue();
  const auto at = std::ranges::find(queue, m.who, &seat::who);
  if (m.waits && at != queue.end() && at != queue.begin()) return *std::prev(at);
  auto others = l.holds();
  std::erase_if(others, [&](const seat* s) { return s->who == m.who; });
  const bool all_have_to_go = m.upgrading || m.exclusive || others.size() == 1;
  return all_have_to_go && !others.empty() ? others.front() : nullptr;
}

// Most have their turn before that, and need not look out.
void etcd_engine::look_out(mine& m, lease_clock::duration after) {
  if (m.looks_out) return;
  lookouts_.join(m.name, m.created, m.who, around().clock->now() + after);
  m.looks_out = true;
}

void etcd_engine::stop_looking_out(mine& m) {
  if (m.ahead != 0) watches_.remove(std::exchange(m.ahead, 0));
  if (std::exchange(m.looks_out, false))
    lookouts_.leave(m.name, m.created, m.who, around().clock->now() + look_out_after);
}

// What is known of it is older than was thought (as_of.hpp).
void etcd_engine::is_known_as_of(mine& m, std::int64_t revision) {
  know_as_of(m, revision);
  if (m.waits) look_out(m, look_out_after);
}

// Those who came first, and the one just before it; of a room with few that is all. An upgrade needs all who hold.
void etcd_engine::look_ahead(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end() || !(at->second.waits || at->second.upgrading) || !looks_.begin(who)) return;
  const auto room = keys_.room(at->second.name);
  pb::TxnRequest t;
  read_oldest(*t.add_success()->mutable_request_range(), room, at->second.upgrading ? 0 : some);
  auto& before = *t.add_success()->mutable_request_range();
  read_newest(before, room, 2);
  before.set_max_create_revision(at->second.created);
  link_.call<pb::TxnRequest, pb::TxnResponse>(method::txn, std::move(t),
                                              around().clock->now() + around().request_timeout,
                                              [this, who](const failure* f, pb::TxnResponse& answer) {
                                                looks_.end(who);
                                                if (!mine_.contains(who) || closed()) return;
                                                if (f != nullptr) return look_again(who);
                                                link_.saw(answer.header());
                                                seen_ahead(who, answer);
                                                look_again_if_blind(who);
                                              });
}

// What it sees at its own key counts from now, also where the watch is late.
void etcd_engine::seen_ahead(const id& who, const pb::TxnResponse& answer) {
  mine& m = mine_.at(who);
  const auto& behind = answer.responses(1).response_range().kvs();
  if (const auto own = std::ranges::find(behind, m.key, &pb::KeyValue::key); own != behind.end()) {
    pb::Event e;
    *e.mutable_kv() = *own;
    own_changed(who, e);
    if (!mine_.contains(who)) return;
  }
  if (!m.waits && !m.upgrading) return;
  const auto revision = answer.header().revision();
  const auto& oldest = answer.responses(0).response_range();
  auto first = ledger::from(keys_, oldest, revision);
  auto before = ledger::from(keys_, answer.responses(1).response_range(), revision);
  auto* const l = std::get_if<ledger>(&first);
  auto* const last = std::get_if<ledger>(&before);
  if (l == nullptr || last == nullptr) return;
  l->turn();
  const seat* const s = l->find(who);
  if (s != nullptr) {
    const bool has_its_turn = m.waits ? !s->waits() : !s->record.upgrading();
    watch_ahead(m, *l);
    if (has_its_turn) runtime().wake(who);
  } else if (oldest.more() && last->find(who) != nullptr) {
    watch_ahead(m, *last);
    if (l->queue().empty())
      runtime().wake(who);  // all before it have their turn, and so may have this one: asking will tell
  }  // else it is told at its own key
}

// It was not seen there. Whoever waits is never without a watch for long.
void etcd_engine::look_again_if_blind(const id& who) {
  if (const auto at = mine_.find(who); at != mine_.end() && at->second.ahead == 0) look_again(who);
}

// The watch that it may have has told already what there was to look at.
void etcd_engine::look_again(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  if (at->second.waits) lookouts_.arm(at->second.name, around().clock->now() + look_out_again_after);
  if (at->second.upgrading) look_after(who, look_out_again_after);
}

void etcd_engine::look_after(const id& who, lease_clock::duration d) { looks_.set(around().clock->now() + d, who); }

}  // namespace tyer::etcd
