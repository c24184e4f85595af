// keep: a lease that was kept and a key that is still there are the proof. Both are asked for at once.
#include "engines/etcd/go/engine.hpp"
#include "engines/etcd/keep_round.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tyer::etcd::go {

struct kept_key {
  id who;
  std::string name, key;  // the key, if it is this client's
  std::int64_t created = 0;
  bool overdue = false;
  int answer = 0;  // of the transaction; of our own there are two
  fate is = fate::gone;
};

struct go_engine::keeping : keep_round<kept_key> {
  using keep_round::keep_round;
};

void go_engine::do_keep(std::span<const target> targets, fate as, milliseconds ttl,
                        const call_ptr<tyer::engine::kept>& c) {
  const auto k = std::make_shared<keeping>(c, as, ttl);
  for (const target& t : targets) {
    auto& one = k->all.emplace_back(t.who, std::string{t.name});
    const mine* m = own(t.who, t.name);
    if (m == nullptr || m->created == 0) continue;
    one.key = m->key;
    one.created = m->created;
    one.overdue = m->due <= c->sent;
    if (!one.overdue) k->leases.insert(m->lease);
  }
  renew_and_read(k);
}

// Of a lease that is not answered for by then, renew_lease_of() waits for the answer.
void go_engine::renew_and_read(const std::shared_ptr<keeping>& k) {
  for (const auto lease : k->leases) {
    leases_.renew(lease, k->call->sent, k->lives(), [](const failure*, bool, time_point) {});
  }
  read_kept(k);
}

// Two reads for each of our own, its key and the first of the name; for all others of a name one of all its keys.
void go_engine::read_kept(const std::shared_ptr<keeping>& k) {
  pb::TxnRequest t;
  std::map<std::string, int> rooms;
  for (auto& one : k->all) {
    one.answer = t.success_size();
    if (!one.overdue && one.key.empty()) {
      const auto [room, fresh] = rooms.try_emplace(one.name, one.answer);
      one.answer = room->second;
      if (fresh) read_all(*t.add_success()->mutable_request_range(), layout_.room(one.name));
      continue;
    }
    // What we did not keep in time is over, even if the server still has it.
    if (one.overdue) {
      auto& only = *t.add_success()->mutable_request_txn();
      only_if_created(only, one.key, one.created);
      only.add_success()->mutable_request_delete_range()->set_key(one.key);
      continue;
    }
    t.add_success()->mutable_request_range()->set_key(one.key);
    auto& r = *t.add_success()->mutable_request_range();
    read_all(r, layout_.room(one.name));
    r.set_limit(1);
    r.set_sort_order(pb::RangeRequest::ASCEND);
    r.set_sort_target(pb::RangeRequest::CREATE);
  }
  if (k->all.empty()) t.add_success()->mutable_request_range()->set_key(layout_.beginning_with("").from);
  read_for(k, std::move(t), [this, k](const pb::TxnResponse& answer) { judge_kept(k, answer); });
}

void go_engine::judge_kept(const std::shared_ptr<keeping>& k, const pb::TxnResponse& answer) {
  k->awaited = 1;
  for (std::size_t i = 0; i < k->all.size(); ++i) {
    const auto& read = answer.responses(k->all[i].answer).response_range();
    const mine* m = own(k->all[i].who, k->all[i].name);
    if (k->all[i].overdue) {
      if (m != nullptr && m->created == k->all[i].created) lose(m->who);
    } else if (k->all[i].key.empty()) {
      judge_other(k, i, read);
    } else {
      judge_own(k, i, read, answer.responses(k->all[i].answer + 1).response_range());
    }
  }
  one_kept(k);
}

// The first may be a key of a longer name: then this one may be first without being told so here; its watch does.
void go_engine::judge_own(const std::shared_ptr<keeping>& k, std::size_t i, const pb::RangeResponse& read,
                          const pb::RangeResponse& first) {
  auto& one = k->all[i];
  mine* m = own(one.who, one.name);
  if (m == nullptr || m->created != one.created) return;
  if (read.kvs_size() == 0 || read.kvs(0).create_revision() != one.created) return find_lost(one.who);
  m->modified = std::min(m->modified, read.kvs(0).mod_revision());  // earlier only if the data was set back
  const bool is_first = first.kvs_size() > 0 && first.kvs(0).create_revision() == one.created;
  // Who became the first while it kept its place does not know it yet: the claim must say so.
  one.is = (k->as == fate::holding ? !m->waits : is_first || !m->waits) ? fate::holding : fate::waiting;
  if (one.is != k->as) return;
  if (m->record.lease_ms() < static_cast<std::uint64_t>(rounded(k->ttl).count())) return move_longer(k, i, *m);
  if (!put_off(*m, k->call->sent + k->ttl)) return void(one.is = fate::gone);
  keep_until(*m, k->call->sent + k->ttl);
  const auto lease = read.kvs(0).lease();
  if (leases_.kept_at(lease) < k->call->sent) renew_lease_of(k, i, lease);
}

void go_engine::judge_other(const std::shared_ptr<keeping>& k, std::size_t i, const pb::RangeResponse& room) {
  auto& one = k->all[i];
  const auto read = go::read(layout_, one.name, room);
  const auto* all = std::get_if<0>(&read);
  if (all == nullptr) return;
  const auto at = std::ranges::find(*all, one.who, &place::who);
  if (at == all->end()) return;
  one.is = at == all->begin() ? fate::holding : fate::waiting;
  if (one.is == k->as) renew_lease_of(k, i, at->lease);
}

// To a lease that is long enough. The write is itself the proof that the key was there.
void go_engine::move_longer(const std::shared_ptr<keeping>& k, std::size_t i, mine& m) {
  ++k->awaited;
  auto record = m.record;
  const auto ms = static_cast<std::uint64_t>(k->ttl.count());
  if (!m.waits) record.set_ttl_ms(std::max(record.ttl_ms(), ms));
  record.set_lease_ms(static_cast<std::uint64_t>(rounded(k->ttl).count()));
  leases_.use(k->ttl, k->call->deadline, [this, k, i, record](const failure* f, std::int64_t lease) {
    if (k->call->over()) return;
    if (f != nullptr) return calls().fail(*k->call, *f);
    const auto& one = k->all[i];
    pb::TxnRequest t;
    only_if_created(t, one.key, one.created);
    put(*t.add_success(), one.key, record, lease);
    if (leases_.kept_at(lease) < k->call->sent)
      leases_.renew(lease, k->call->sent, k->ttl, [](const failure*, bool, time_point) {});
    link_.call<pb::TxnRequest, pb::TxnResponse>(
        method::txn, std::move(t), k->call->deadline,
        [this, k, i, record, lease](const failure* wrong, pb::TxnResponse& answer) {
          if (k->call->over()) return;
          if (wrong != nullptr) return calls().fail(*k->call, *wrong);
          auto& kept = k->all[i];
          if (!answer.succeeded()) {
            kept.is = fate::gone;
            find_lost(kept.who);
          } else if (mine* now = own(kept.who, kept.name); now != nullptr && now->created == kept.created) {
            now->record = record;
            now->modified = answer.header().revision();
            now->lease = lease;
            keep_until(*now, k->call->sent + k->ttl);
          }
          if (answer.succeeded() && leases_.kept_at(lease) < k->call->sent) renew_lease_of(k, i, lease);
          one_kept(k);
        });
  });
}

}  // namespace tyer::etcd::go
