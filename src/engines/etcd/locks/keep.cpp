// keep: the leases first, then a read of every key: a lease that was kept and a key that is still there are the proof.
//
// A hold or a place whose key was read while it was being watched, and is watched since without a break, is not read again:
// the watch would have told of its end or of its turn. So one message for the lease keeps any number of them, and all who
// ask soon after it left count from it too; then they fall due together.
//
// But a watch tells only what the server that it comes from has been told: one that lags behind the others says nothing, while
// the lease is renewed by their leader. So with every second renewal it is found out for all holds together how far the watches
// are (freshness.hpp); a hold of which that is not known for most of its ttl is read again.
#include "engines/etcd/keep_round.hpp"
#include "engines/etcd/locks/engine.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tyer::etcd {

struct kept_seat {
  id who;
  std::string name;
  bool overdue = false;
  std::uint64_t watched_under = 0;  // when the read left
  fate is = fate::gone;
};

struct etcd_engine::keeping : keep_round<kept_seat> {
  time_point since;  // what left earlier does not count
  struct look {
    std::size_t of;  // all
    int answer;      // of the transaction
  };
  std::vector<look> read;
};

std::shared_ptr<etcd_engine::keeping> etcd_engine::start_keeping(std::span<const target> targets, fate as,
                                                                 milliseconds ttl, reply<tyer::engine::kept> back) {
  auto k = start_round<keeping>(as, ttl, std::move(back));
  k->since = k->o->sent - may_be_earlier(ttl);
  for (const target& t : targets) {
    auto& one = k->all.emplace_back(t.who, std::string{t.name});
    const auto at = mine_.find(t.who);
    if (at == mine_.end() || at->second.name != one.name) continue;
    one.overdue = at->second.due <= k->o->sent;
    if (!one.overdue) k->leases.insert(at->second.lease);
  }
  return k;
}

void etcd_engine::keep(std::span<const target> targets, fate as, milliseconds ttl, reply<tyer::engine::kept> back) {
  const auto k = start_keeping(targets, as, ttl, std::move(back));
  if (targets.size() > can().keep_batch) {
    box_->put([this, k] { fail(k->o, no(why::over_limit, errc::over_limit, "too many to keep at once")); });
    return;
  }
  renew_kept(k);
}

// The lease beside the read: one round trip, and nothing that was known before counts. A watch tells what the server it comes from
// has been told; a read is answered for most of them.
void etcd_engine::confirm(const target& t, milliseconds ttl, reply<tyer::engine::kept> back) {
  const auto k = start_keeping({&t, 1}, fate::holding, ttl, std::move(back));
  k->since = k->o->sent;
  for (const auto lease : k->leases) leases_.renew(lease, k->since, ttl, [](const failure*, bool, time_point) {});
  k->all[0].overdue ? box_->put([this, k] { read_kept(k); }) : read_kept(k);
}

void etcd_engine::renew_kept(const std::shared_ptr<keeping>& k) {
  k->awaited = 1;
  for (const auto lease : k->leases) {
    if (const auto kept = leases_.kept_at(lease); kept >= k->since) {
      lease_kept(k, lease, kept);
      continue;
    }
    ++k->awaited;
    leases_.renew(lease, k->since, k->lives(), [this, k, lease](const failure* f, bool alive, time_point sent) {
      if (k->o->over()) return;
      if (f != nullptr) return fail(k->o, *f);
      if (alive) lease_kept(k, lease, sent);
      if (--k->awaited == 0) read_kept(k);
    });
  }
  if (--k->awaited == 0) {
    box_->put([this, k] {
      if (!k->o->over()) read_kept(k);
    });
  }
}

void etcd_engine::lease_kept(const std::shared_ptr<keeping>& k, std::int64_t lease, time_point sent) {
  k->o->counts_from = k->renewed.empty() ? sent : std::min(k->o->counts_from, sent);
  k->renewed.insert(lease);
}

bool etcd_engine::needs_no_read(const keeping& k, const mine& m) const {
  if (k.as == fate::holding && unproven_for(m, k.o->sent) >= lease_clock::duration{k.ttl} * 5 / 6) return false;
  return !m.handed_over && m.waits == (k.as == fate::waiting) && m.due > environment_.clock->now() &&
         m.lease_ttl >= rounded(k.ttl) && k.renewed.contains(m.lease) && m.seen_under != 0 &&
         m.seen_under == watches_.confirmed_on(m.own);
}

lease_clock::duration etcd_engine::unproven_for(const mine& m, time_point now) const {
  return now - std::max(m.read_at, fresh_.known_at(m.seen_under));
}

// Nobody waits for it: as long as it is not known, keys are read.
void etcd_engine::prove_watches(milliseconds ttl) {
  const auto now = environment_.clock->now();
  const freshness::source from{watches_.stream_number(), link_.said().member, link_.said().version};
  const auto attempt = fresh_.begin(now, from, lease_clock::duration{ttl} / 2);
  if (attempt == 0) return;
  pb::RangeRequest r;
  r.set_key(keys_.beginning_with("").from);
  link_.call<pb::RangeRequest, pb::RangeResponse>(
      method::range, std::move(r), now + environment_.request_timeout,
      [this, attempt](const failure* f, pb::RangeResponse& answer) {
        if (f != nullptr) return fresh_.give_up(attempt);
        link_.saw(answer.header());
        if (fresh_.on_read(attempt, answer.header().revision(), environment_.clock->now())) watches_.ask_progress();
      });
}

// Not one that is over, even if the server still has it: it is being taken away, as it is.
bool etcd_engine::extend(mine& m, time_point due) {
  due = std::max(m.due, due);
  if (m.due <= environment_.clock->now() || !overdue_->put_off(m.key, m.modified, due)) return false;
  m.due = due;
  return true;
}

void etcd_engine::read_kept(const std::shared_ptr<keeping>& k) {
  pb::TxnRequest t;
  std::map<std::string, int> rooms;  // read whole, each once, whoever is looked for there
  const auto read = [&](const key_range& keys) {
    auto& r = *t.add_success()->mutable_request_range();
    r.set_key(keys.from);
    r.set_range_end(keys.to);
    return t.success_size() - 1;
  };
  for (std::size_t i = 0; i < k->all.size(); ++i) {
    auto& one = k->all[i];
    if (one.overdue) continue;  // it is over, even if the server still has it: it is being taken away
    const auto at = mine_.find(one.who);
    if (at != mine_.end() && at->second.name == one.name) {
      if (needs_no_read(*k, at->second)) {
        if (extend(at->second, k->o->sent + k->ttl)) one.is = k->as;
        if (k->as == fate::holding && unproven_for(at->second, k->o->sent) >= k->ttl / 2) prove_watches(k->ttl);
        continue;
      }
      one.watched_under = watches_.confirmed_on(at->second.own);
      k->read.push_back({i, read({at->second.key, {}})});
      continue;
    }
    const auto [room, fresh] = rooms.try_emplace(one.name);
    if (fresh) room->second = read(keys_.room(one.name));
    k->read.push_back({i, room->second});
  }
  if (k->read.empty() && !k->all.empty()) {
    k->awaited = 1;
    return one_kept(k);
  }
  if (k->all.empty()) t.add_success()->mutable_request_range()->set_key(keys_.beginning_with("").from);
  read_for(k, std::move(t), [this, k](const pb::TxnResponse& answer) { judge_kept(k, answer); });
}

void etcd_engine::judge_kept(const std::shared_ptr<keeping>& k, const pb::TxnResponse& answer) {
  k->awaited = 1;
  for (const auto& [i, number] : k->read) {
    const auto& one = k->all[i];
    const auto& read = answer.responses(number).response_range().kvs();
    const auto at = mine_.find(one.who);
    const bool known = at != mine_.end() && at->second.name == one.name;
    const auto own = std::ranges::find_if(read, [&](const pb::KeyValue& kv) {
      const auto where = keys_.read(kv.key());
      const auto record = read_value(kv.value());
      return where && where->at && record && who_is(*record, *where->at) == one.who &&
             (!known || at->second.created == kv.create_revision());
    });
    if (own == read.end()) {
      // Not what has been written since: an acquire of the same id may have been quicker than this answer.
      if (known && at->second.modified <= answer.header().revision()) find_lost(one.who);
      continue;
    }
    keep_one(k, i, *own, answer.header().revision());
  }
  one_kept(k);
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
    if (!extend(at->second, k->o->sent + k->ttl)) return void(k->all[i].is = fate::gone);
    at->second.read_at = k->o->sent;
    const auto under = k->all[i].watched_under;
    if (under == watches_.confirmed_on(at->second.own)) at->second.seen_under = under;
  }
  if (k->renewed.contains(kv.lease()) || leases_.kept_at(kv.lease()) >= k->o->sent) return;
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
  leases_.use(k->ttl, k->o->deadline, [this, k, i, s](const failure* f, std::int64_t lease) mutable {
    if (k->o->over()) return;
    if (f != nullptr) return fail(k->o, *f);
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
        method::txn, std::move(t), k->o->deadline,
        [this, k, i, s](const failure* wrong, pb::TxnResponse& answer) mutable {
          if (k->o->over()) return;
          if (wrong != nullptr) return fail(k->o, *wrong);
          if (!answer.succeeded()) {  // just then it changed: the caller asks again
            return fail(k->o, no(why::unknown, errc::outcome_unknown, "it changed while it was being kept"));
          }
          s.modified = answer.header().revision();
          const auto at = mine_.find(s.who);
          if (at != mine_.end() && at->second.created == s.created) have(k->all[i].name, s, k->o->sent + k->ttl);
          one_kept(k);
        });
  });
}

// The longer lease counts only from when it was confirmed itself.
void etcd_engine::confirm_longer(const std::shared_ptr<keeping>& k, std::size_t i, std::int64_t lease) {
  if (const auto kept = leases_.kept_at(lease); kept >= k->since) return lease_kept(k, lease, kept);
  ++k->awaited;
  leases_.renew(lease, k->since, k->lives(), [this, k, i, lease](const failure* f, bool alive, time_point sent) {
    if (k->o->over()) return;
    if (f != nullptr) return fail(k->o, *f);
    alive ? lease_kept(k, lease, sent) : void(k->all[i].is = fate::gone);
    one_kept(k);
  });
}

}  // namespace tyer::etcd
