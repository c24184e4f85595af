// keep: a lease that was kept and a key that is still there are the proof. Both are asked for at once: behind a new connection a
// hold may have little time left, and servers may be slow.
//
// A hold or a place whose key was read while it was being watched, and is watched since without a break, is not read again:
// the watch would have told of its end or of its turn. So one message for the lease keeps any number of them, and all who
// ask soon after it left count from it too; then they fall due together. If that lease is gone, the key is read after all.
//
// But a watch tells only what the server that it comes from has been told: one that lags behind the others says nothing, while
// the lease is renewed by their leader. So with every second renewal it is found out for all holds together how far the watches
// are (freshness.hpp); a hold of which that is not known for most of its ttl is read again.
#include "engines/etcd/keep_round.hpp"
#include "engines/etcd/locks/engine.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tyer::etcd {

struct kept_seat {
  id who;
  std::string name;
  bool overdue = false, read = false;
  std::uint64_t watched_under = 0;  // when the read left
  fate is = fate::gone;
};

struct etcd_engine::reading {
  struct look {
    std::size_t of;  // all
    int answer;      // of the transaction
  };
  std::vector<look> looks;
  std::map<std::string, int> rooms;  // read whole, each once, whoever is looked for there
  pb::TxnRequest asks;
  pb::TxnResponse answer;
};

struct etcd_engine::keeping : keep_round<kept_seat> {
  using keep_round::keep_round;

  time_point since;           // what left earlier does not count
  bool by_watch_too = false;  // what is watched needs no read
  std::set<std::int64_t> renewed;
  reading beside;  // the renewals
};

std::shared_ptr<etcd_engine::keeping> etcd_engine::start_keeping(std::span<const target> targets, fate as,
                                                                 milliseconds ttl,
                                                                 const call_ptr<tyer::engine::kept>& c) {
  auto k = std::make_shared<keeping>(c, as, ttl);
  k->since = k->call->sent - may_be_earlier(ttl);
  for (const target& t : targets) {
    auto& one = k->all.emplace_back(t.who, std::string{t.name});
    const auto at = mine_.find(t.who);
    if (at == mine_.end() || at->second.name != one.name) continue;
    one.overdue = at->second.due <= k->call->sent;
    if (!one.overdue) k->leases.insert(at->second.lease);
  }
  return k;
}

void etcd_engine::do_keep(std::span<const target> targets, fate as, milliseconds ttl,
                          const call_ptr<tyer::engine::kept>& c) {
  const auto k = start_keeping(targets, as, ttl, c);
  k->by_watch_too = true;
  renew_and_read(k);
}

// Nothing that was known before counts. A watch tells what the server it comes from has been told; a read is answered for most of
// them.
void etcd_engine::do_confirm(const target& t, milliseconds ttl, const call_ptr<tyer::engine::kept>& c) {
  const auto k = start_keeping({&t, 1}, fate::holding, ttl, c);
  k->since = k->call->sent;
  renew_and_read(k);
}

void etcd_engine::renew_and_read(const std::shared_ptr<keeping>& k) {
  k->awaited = 1;
  for (const auto lease : k->leases) {
    if (const auto kept = leases_.kept_at(lease); kept >= k->since) {
      lease_kept(k, lease, kept);
      continue;
    }
    ++k->awaited;
    leases_.renew(lease, k->since, k->lives(), [this, k, lease](const failure* f, bool alive, time_point sent) {
      if (k->call->over()) return;
      if (f != nullptr) return calls().fail(*k->call, *f);
      if (alive) lease_kept(k, lease, sent);
      if (--k->awaited == 0) judge_kept(k);
    });
  }
  read_beside(k);
  if (--k->awaited == 0) judge_kept(k);
}

void etcd_engine::lease_kept(const std::shared_ptr<keeping>& k, std::int64_t lease, time_point sent) {
  k->call->counts_from = k->renewed.empty() ? sent : std::min(k->call->counts_from, sent);
  k->renewed.insert(lease);
}

// Whatever becomes of its lease.
bool etcd_engine::rests_on_watch(const keeping& k, const mine& m) const {
  if (!k.by_watch_too) return false;
  if (k.as == fate::holding && unproven_for(m, k.call->sent) >= lease_clock::duration{k.ttl} * 5 / 6) return false;
  return !m.handed_over && m.waits == (k.as == fate::waiting) && m.due > around().clock->now() &&
         m.lease_ttl >= rounded(k.ttl) && m.seen_under != 0 && m.seen_under == watches_.confirmed_on(m.own);
}

lease_clock::duration etcd_engine::unproven_for(const mine& m, time_point now) const {
  return now - std::max(m.read_at, fresh_.known_at(m.seen_under));
}

// Nobody waits for it: as long as it is not known, keys are read.
void etcd_engine::prove_watches(milliseconds ttl) {
  const auto now = around().clock->now();
  const freshness::source from{watches_.stream_number(), link_.said().member, link_.said().version};
  const auto attempt = fresh_.begin(now, from, lease_clock::duration{ttl} / 2);
  if (attempt == 0) return;
  pb::RangeRequest r;
  r.set_key(keys_.beginning_with("").from);
  link_.call<pb::RangeRequest, pb::RangeResponse>(
      method::range, std::move(r), now + around().request_timeout,
      [this, attempt](const failure* f, pb::RangeResponse& answer) {
        if (f != nullptr) return fresh_.give_up(attempt);
        link_.saw(answer.header());
        if (fresh_.on_read(attempt, answer.header().revision(), around().clock->now())) watches_.ask_progress();
      });
}

// Not one that is over, even if the server still has it: it is being taken away, as it is.
bool etcd_engine::extend(mine& m, time_point due) {
  due = std::max(m.due, due);
  if (m.due <= around().clock->now() || !overdue_->put_off(m.key, m.modified, due)) return false;
  m.due = due;
  return true;
}

void etcd_engine::look_at(reading& r, keeping& k, std::size_t i) const {
  const auto read = [&](const key_range& keys) {
    auto& range = *r.asks.add_success()->mutable_request_range();
    range.set_key(keys.from);
    range.set_range_end(keys.to);
    return r.asks.success_size() - 1;
  };
  auto& one = k.all[i];
  one.read = true;
  const auto at = mine_.find(one.who);
  if (at != mine_.end() && at->second.name == one.name) {
    one.watched_under = watches_.confirmed_on(at->second.own);
    r.looks.push_back({i, read({at->second.key, {}})});
    return;
  }
  const auto [room, fresh] = r.rooms.try_emplace(one.name);
  if (fresh) room->second = read(keys_.room(one.name));
  r.looks.push_back({i, room->second});
}

void etcd_engine::read_beside(const std::shared_ptr<keeping>& k) {
  auto& r = k->beside;
  for (std::size_t i = 0; i < k->all.size(); ++i) {
    if (k->all[i].overdue) continue;  // it is over, even if the server still has it: it is being taken away
    const auto at = mine_.find(k->all[i].who);
    const bool known = at != mine_.end() && at->second.name == k->all[i].name;
    if (!known || !rests_on_watch(*k, at->second)) look_at(r, *k, i);
  }
  if (k->all.empty()) r.asks.add_success()->mutable_request_range()->set_key(keys_.beginning_with("").from);
  if (r.asks.success_size() == 0) return;
  ++k->awaited;
  read_for(k, std::move(r.asks), [this, k](pb::TxnResponse& answer) {
    k->beside.answer = std::move(answer);
    if (--k->awaited == 0) judge_kept(k);
  });
}

// Now it is known which leases were kept, and what was read beside that. The rest has its proof, or is read after all.
void etcd_engine::judge_kept(const std::shared_ptr<keeping>& k) {
  k->awaited = 1;
  judge_read(k, k->beside);
  const auto later = std::make_shared<reading>();
  for (std::size_t i = 0; i < k->all.size(); ++i) {
    auto& one = k->all[i];
    if (one.overdue || one.read) continue;
    const auto at = mine_.find(one.who);
    const bool known = at != mine_.end() && at->second.name == one.name;
    if (!known || !k->renewed.contains(at->second.lease) || !rests_on_watch(*k, at->second)) {
      look_at(*later, *k, i);
      continue;
    }
    if (extend(at->second, k->call->sent + k->ttl)) one.is = k->as;
    if (k->as == fate::holding && unproven_for(at->second, k->call->sent) >= k->ttl / 2) prove_watches(k->ttl);
  }
  if (!later->looks.empty()) {
    ++k->awaited;
    read_for(k, std::move(later->asks), [this, k, later](pb::TxnResponse& answer) {
      later->answer = std::move(answer);
      judge_read(k, *later);
      one_kept(k);
    });
  }
  one_kept(k);
}

void etcd_engine::judge_read(const std::shared_ptr<keeping>& k, const reading& r) {
  const auto as_of = r.answer.header().revision();
  for (const auto& [i, number] : r.looks) {
    const auto& one = k->all[i];
    const auto& read = r.answer.responses(number).response_range().kvs();
    const auto at = mine_.find(one.who);
    const bool known = at != mine_.end() && at->second.name == one.name;
    const auto own = std::ranges::find_if(read, [&](const pb::KeyValue& kv) {
      const auto where = keys_.read(kv.key());
      const auto record = read_value(kv.value());
      return where && where->at && record && who_is(*record, *where->at) == one.who &&
             (!known || at->second.created == kv.create_revision());
    });
    if (own != read.end()) {
      keep_one(k, i, *own, as_of);
    } else if (known && at->second.modified <= as_of) {
      find_lost(one.who);  // what has been written since is not lost: an acquire of the same id may have been quicker
    }
  }
}

void etcd_engine::keep_one(const std::shared_ptr<keeping>& k, std::size_t i, const pb::KeyValue& kv,
                           std::int64_t as_of) {
  auto record = read_value(kv.value());
  const bool waits = record->state() == pb::Record::WAITING;
  const bool claimed = record->state() == pb::Record::HOLDING;
  // Who was handed the lock while it kept its place does not know it yet: the claim must say so.
  k->all[i].is = waits || (k->as == fate::holding && !claimed) ? fate::waiting : fate::holding;
  const bool extended = k->as == fate::holding ? claimed : waits;
  if (!extended) return;
  if (record->lease_ms() < static_cast<std::uint64_t>(rounded(k->ttl).count())) {
    return move_longer(k, i, kv, *std::move(record));
  }
  const auto at = mine_.find(k->all[i].who);
  if (at != mine_.end() && at->second.key == kv.key()) {
    if (at->second.modified <= as_of) is_known_as_of(at->second, kv.mod_revision());
    if (!extend(at->second, k->call->sent + k->ttl)) return void(k->all[i].is = fate::gone);
    at->second.read_at = k->call->sent;
    const auto under = k->all[i].watched_under;
    if (under == watches_.confirmed_on(at->second.own)) at->second.seen_under = under;
  }
  if (k->renewed.contains(kv.lease()) || leases_.kept_at(kv.lease()) >= k->call->sent) return;
  renew_lease_of(k, i, kv.lease());
}

// To a lease that is long enough. The write is itself the proof that the key was there.
void etcd_engine::move_longer(const std::shared_ptr<keeping>& k, std::size_t i, const pb::KeyValue& kv,
                              pb::Record record) {
  ++k->awaited;
  seat s{k->all[i].who, std::move(record), kv.create_revision(), kv.mod_revision(), kv.lease()};
  s.at = *keys_.read(kv.key())->at;
  if (!s.waits()) {
    s.record.set_part(s.part());
    s.record.set_place(0);
    s.record.set_ttl_ms(std::max(s.record.ttl_ms(), static_cast<std::uint64_t>(k->ttl.count())));
  }
  s.record.set_lease_ms(static_cast<std::uint64_t>(rounded(k->ttl).count()));
  leases_.use(k->ttl, k->call->deadline, [this, k, i, s](const failure* f, std::int64_t lease) mutable {
    if (k->call->over()) return;
    if (f != nullptr) return calls().fail(*k->call, *f);
    s.lease = lease;
    confirm_longer(k, i, lease);
    pb::TxnRequest t;
    auto& c = *t.add_compare();
    c.set_key(keys_.seat(k->all[i].name, s.at));
    c.set_target(pb::Compare::MOD);
    c.set_mod_revision(s.modified);
    auto& p = *t.add_success()->mutable_request_put();
    p.set_key(c.key());
    p.set_value(write_value(s.record));
    p.set_lease(lease);
    link_.call<pb::TxnRequest, pb::TxnResponse>(
        method::txn, std::move(t), k->call->deadline,
        [this, k, i, s](const failure* wrong, pb::TxnResponse& answer) mutable {
          if (k->call->over()) return;
          if (wrong != nullptr) return calls().fail(*k->call, *wrong);
          if (!answer.succeeded()) {  // just then it changed: the caller asks again
            return calls().fail(*k->call,
                                no(why::unknown, errc::outcome_unknown, "it changed while it was being kept"));
          }
          s.modified = answer.header().revision();
          const auto at = mine_.find(s.who);
          if (at != mine_.end() && at->second.created == s.created) have(k->all[i].name, s, k->call->sent + k->ttl);
          one_kept(k);
        });
  });
}

// The longer lease counts only from when it was confirmed itself.
void etcd_engine::confirm_longer(const std::shared_ptr<keeping>& k, std::size_t i, std::int64_t lease) {
  if (const auto kept = leases_.kept_at(lease); kept >= k->since) return lease_kept(k, lease, kept);
  ++k->awaited;
  leases_.renew(lease, k->since, k->lives(), [this, k, i, lease](const failure* f, bool alive, time_point sent) {
    if (k->call->over()) return;
    if (f != nullptr) return calls().fail(*k->call, *f);
    alive ? lease_kept(k, lease, sent) : void(k->all[i].is = fate::gone);
    one_kept(k);
  });
}

}  // namespace tyer::etcd
