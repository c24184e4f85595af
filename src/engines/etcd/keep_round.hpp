// One keep() on its way: the leases, and a read of what is not known otherwise. What a layout must know of each that is kept is
// the layout's (One); it has at least the fate `is`.
#pragma once

#include "engines/etcd/frame.hpp"

#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace tyer::etcd {

template <class One>
struct keep_round {
  keep_round(const call_ptr<tyer::engine::kept>& c, tyer::engine::fate f, milliseconds t) : call(c), as(f), ttl(t) {}

  const call_ptr<tyer::engine::kept> call;
  const tyer::engine::fate as;
  const milliseconds ttl;
  std::vector<One> all;
  std::set<std::int64_t> leases;
  std::size_t awaited = 1;  // answers

  milliseconds lives() const { return lives_for(as, ttl); }
};

template <class Round, class Judge>
void frame::read_for(const std::shared_ptr<Round>& k, pb::TxnRequest t, Judge judge) {
  link_.call<pb::TxnRequest, pb::TxnResponse>(method::txn, std::move(t), k->call->deadline,
                                              [this, k, judge](const failure* f, pb::TxnResponse& answer) {
                                                if (k->call->over()) return;
                                                if (f != nullptr) return calls().fail(*k->call, *f);
                                                link_.saw(answer.header());
                                                judge(answer);
                                              },
                                              {.patience = link_.patience(k->lives())});
}

template <class Round>
void frame::renew_lease_of(const std::shared_ptr<Round>& k, std::size_t i, std::int64_t lease) {
  ++k->awaited;
  leases_.renew(lease, k->call->sent, k->lives(), [this, k, i](const failure* f, bool alive, time_point) {
    if (k->call->over()) return;
    if (f != nullptr) return calls().fail(*k->call, *f);
    if (!alive) k->all[i].is = tyer::engine::fate::gone;
    one_kept(k);
  });
}

template <class Round>
void frame::one_kept(const std::shared_ptr<Round>& k) {
  if (--k->awaited > 0 || k->call->over()) return;
  std::vector<tyer::engine::fate> fates;
  for (const auto& one : k->all) fates.push_back(one.is);
  calls().answer<tyer::engine::kept>(*k->call, tyer::engine::kept{std::move(fates), k->ttl});
}

}  // namespace tyer::etcd
