// A place in the queue: taken without a condition, and behind many without reading them all.
#include "engines/etcd/acquiring.hpp"
#include "engines/etcd/transactions.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd {

// Holders have come before those who wait. So whoever sees one who waits sees all who hold; and if it is not that one's turn,
// it is nobody's who came later.
bool etcd_engine::nobody_moves(const ledger& oldest) const {
  const auto overdue = [&](const seat& s) {
    const auto at = mine_.find(s.who);
    return at != mine_.end() && at->second.due <= environment_.clock->now();
  };
  if (oldest.queue().empty() || std::ranges::any_of(oldest.seats(), overdue)) return false;
  ledger after = oldest;
  after.turn();
  return !after.dirty();
}

void etcd_engine::look_at_some(const std::shared_ptr<acquiring>& a, const pb::RangeResponse& read,
                               std::int64_t revision) {
  if (!read.more()) return look_and_take(a, read, revision);
  const auto l = ledger::from(keys_, read, revision);
  const auto* const oldest = std::get_if<ledger>(&l);
  const bool full = read.count() > static_cast<std::int64_t>(config_.waiters_max);
  if (oldest == nullptr || full || !nobody_moves(*oldest)) return read_all(a);
  ledger with_us = *oldest;
  const auto result = with_us.acquire(a->wish);
  const auto* const likely = std::get_if<answer>(&result);
  const bool has_to_wait = likely != nullptr && std::holds_alternative<tyer::engine::queued>(*likely);
  has_to_wait ? take_place(a) : read_all(a);
}

// Behind the one that came before: that is all that is to be known of the others.
void etcd_engine::take_far_place(const std::shared_ptr<acquiring>& a, const pb::TxnResponse& answer) {
  const auto& newest = answer.responses(2).response_range();
  const auto revision = answer.header().revision();
  const auto l = ledger::from(keys_, answer.responses(1).response_range(), revision);
  auto n = ledger::from(keys_, newest, revision);
  const auto* const oldest = std::get_if<ledger>(&l);
  auto* const last = std::get_if<ledger>(&n);
  if (oldest == nullptr || last == nullptr || !nobody_moves(*oldest)) return read_all(a);
  const seat* const own = last->find(a->wish.r.what.who);
  if (own == nullptr || own->created != revision || a->o->over()) return read_all(a);
  const auto ahead = newest.count() - static_cast<std::int64_t>(oldest->holds().size()) - 1;
  a->result = tyer::engine::queued{static_cast<std::uint32_t>(ahead), std::max(a->wish.r.waiter_ttl, milliseconds{1})};
  answer_acquire(a, *last);
}

void etcd_engine::take_place(const std::shared_ptr<acquiring>& a) {
  leases_.use(a->wish.r.waiter_ttl, a->o->deadline, [this, a](const failure* f, std::int64_t lease) {
    if (f != nullptr) return fail(a->o, *f);
    if (a->o->over()) return next_of(a->o);
    if (too_late(a->o)) return;
    const auto room = keys_.room(a->name);
    pb::TxnRequest t;
    auto& c = *t.add_compare();
    c.set_key(a->key);
    c.set_target(pb::Compare::CREATE);
    c.set_create_revision(0);
    auto& p = *t.add_success()->mutable_request_put();
    p.set_key(a->key);
    p.set_value(write_value(ledger::place(a->wish)));
    p.set_lease(lease);
    read_oldest(*t.add_success()->mutable_request_range(), room, some);
    read_newest(*t.add_success()->mutable_request_range(), room, 2);
    auto& all = *t.add_failure()->mutable_request_range();
    all.set_key(room.from);
    all.set_range_end(room.to);
    keep_place(*a, lease);
    link_.call<pb::TxnRequest, pb::TxnResponse>(
        method::txn, std::move(t), a->o->deadline, [this, a, lease](const failure* wrong, pb::TxnResponse& answer) {
          if (wrong != nullptr) {
            if (names_a_lost_lease(*wrong)) return again_with_new_lease(a, lease);
            return fail(a->o, *wrong);
          }
          link_.saw(answer.header());
          a->o->not_after = time_point::max();  // it is there now, and must be told of
          a->wish.known = answer.succeeded();
          const auto& read = answer.responses(answer.succeeded() ? 1 : 0).response_range();
          if (read.more()) return take_far_place(a, answer);
          look_and_take(a, read, answer.header().revision());
        });
  });
}

// Nobody waits for it: a place whose lease ends is only a place lost.
void etcd_engine::keep_place(const acquiring& a, std::int64_t lease) {
  const auto since = a.o->sent - may_be_earlier(a.wish.r.waiter_ttl);
  if (leases_.kept_at(lease) < since)
    leases_.renew(lease, since, a.wish.r.waiter_ttl, [](const failure*, bool, time_point) {});
}

}  // namespace tyer::etcd
