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
  op o;
  std::shared_ptr<reply<tyer::engine::kept>> back;
  std::vector<One> all;
  tyer::engine::fate as = tyer::engine::fate::holding;
  milliseconds ttl{};
  std::set<std::int64_t> leases;
  std::size_t awaited = 1;  // answers

  milliseconds lives() const { return lives_for(as, ttl); }
};

template <class Round>
std::shared_ptr<Round> frame::start_round(tyer::engine::fate as, milliseconds ttl, reply<tyer::engine::kept> back) {
  auto k = std::make_shared<Round>();
  k->back = std::make_shared<reply<tyer::engine::kept>>(std::move(back));
  k->as = as;
  k->ttl = ttl;
  k->o = make({}, k->back);
  return k;
}

template <class Round, class Judge>
void frame::read_for(const std::shared_ptr<Round>& k, pb::TxnRequest t, Judge judge) {
  link_.call<pb::TxnRequest, pb::TxnResponse>(method::txn, std::move(t), k->o->deadline,
                                              [this, k, judge](const failure* f, pb::TxnResponse& answer) {
                                                if (k->o->over()) return;
                                                if (f != nullptr) return fail(k->o, *f);
                                                link_.saw(answer.header());
                                                judge(answer);
                                              },
                                              {.patience = link_.patience(k->lives())});
}

template <class Round>
void frame::renew_lease_of(const std::shared_ptr<Round>& k, std::size_t i, std::int64_t lease) {
  ++k->awaited;
  leases_.renew(lease, k->o->sent, k->lives(), [this, k, i](const failure* f, bool alive, time_point) {
    if (k->o->over()) return;
    if (f != nullptr) return fail(k->o, *f);
    if (!alive) k->all[i].is = tyer::engine::fate::gone;
    one_kept(k);
  });
}

template <class Round>
void frame::one_kept(const std::shared_ptr<Round>& k) {
  if (--k->awaited > 0 || k->o->over()) return;
  std::vector<tyer::engine::fate> fates;
  for (const auto& one : k->all) fates.push_back(one.is);
  finish(k->o, k->back, {tyer::engine::kept{std::move(fates), k->ttl}});
}

}  // namespace tyer::etcd
