// A place in the queue: taken without a condition, and behind many without reading them all.
#include "engines/etcd/locks/acquire.hpp"
#include "engines/etcd/locks/transactions.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd {

namespace {

constexpr std::size_t crowded_max = 1000;

// Behind many. A place of one that died is there for its waiter ttl: so it would be in vain to look much earlier. But not as late as
// its own ttl may be, since others have their own.
lease_clock::duration look_out_behind_many(const tyer::engine::request& r) {
  return std::max<lease_clock::duration>(look_out_after, std::min(r.ttl / 3, r.waiter_ttl));
}

}  // namespace

// Holders have come before those who wait. So whoever sees one who waits sees all who hold, but for readers that joined while it came,
// who can only keep more waiting; and if it is not that one's turn, it is nobody's who came later.
bool etcd_engine::nobody_moves(const ledger& oldest) const {
  const auto overdue = [&](const seat& s) {
    const auto at = mine_.find(s.who);
    return at != mine_.end() && at->second.due <= around().clock->now();
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
void etcd_engine::take_far_place(const std::shared_ptr<acquiring>& a, const pb::TxnResponse& answer,
                                 std::int64_t revision) {
  const auto& newest = answer.responses(2).response_range();
  const auto l = ledger::from(keys_, answer.responses(1).response_range(), revision);
  auto n = ledger::from(keys_, newest, revision);
  const auto* const oldest = std::get_if<ledger>(&l);
  auto* const last = std::get_if<ledger>(&n);
  if (oldest == nullptr || last == nullptr || !nobody_moves(*oldest)) return read_all(a);
  const seat* const own = last->find(a->wish.r.what.who);
  if (own == nullptr || own->created != revision || a->call->over()) return read_all(a);
  const auto ahead = newest.count() - static_cast<std::int64_t>(oldest->holds().size()) - 1;
  if (ahead >= config_.waiters_max) return read_all(a);
  wait_far_back(a, *own, ahead);
}

void etcd_engine::wait_far_back(const std::shared_ptr<acquiring>& a, const seat& s, std::int64_t ahead) {
  if (crowded_.size() >= crowded_max) crowded_.clear();
  crowded_.insert(a->name);
  wait_for_turn(*a, s, look_out_behind_many(a->wish.r));
  a->result = tyer::engine::queued{static_cast<std::uint32_t>(ahead), std::max(a->wish.r.waiter_ttl, milliseconds{1})};
  calls().answer<answer>(*a->call, std::move(a->result));
}

new_key etcd_engine::place_of(const acquiring& a, std::int64_t lease) const {
  return {a.key, write_value(ledger::place(a.wish)), lease};
}

void etcd_engine::take_place(const std::shared_ptr<acquiring>& a) {
  leases_.use(a->wish.r.waiter_ttl, a->call->deadline, [this, a](const failure* f, std::int64_t lease) {
    if (f != nullptr) return calls().fail(*a->call, *f);
    if (a->call->over()) return;
    if (calls().too_late(*a->call, now())) return;
    write_place(a, lease, company::some);
  });
}

// Under a lease that is at hand, so that it costs nothing when the lock is free. Those who hold or wait do not matter to an exclusive one:
// where it is not free, it has to wait.
std::int64_t etcd_engine::lease_of_place(const acquiring& a) {
  const bool waits = a.wish.r.enqueue && a.wish.r.what.how == mode::exclusive;
  return waits ? leases_.at_hand(a.wish.r.waiter_ttl) : 0;
}

void etcd_engine::write_place(const std::shared_ptr<acquiring>& a, std::int64_t lease, company c) {
  keep_place(*a, lease);
  link_.call<pb::TxnRequest, pb::TxnResponse>(
      method::txn, etcd::take_place(keys_.room(a->name), place_of(*a, lease), c), a->call->deadline,
      [this, a, lease, c](const failure* wrong, pb::TxnResponse& answer) {
        if (wrong != nullptr) {
          if (names_a_lost_lease(*wrong)) return again_with_new_lease(a, lease);
          return calls().fail(*a->call, *wrong);
        }
        link_.saw(answer.header());
        const auto revision = answer.header().revision();
        c == company::many&& answer.succeeded() ? placed_among_many(a, lease, answer, revision)
                                                : placed(a, answer, revision);
      });
}

// It is there now, and must be told of.
void etcd_engine::placed(const std::shared_ptr<acquiring>& a, const pb::TxnResponse& answer, std::int64_t revision) {
  a->call->not_after = time_point::max();
  a->has_come = true;
  a->wish.known = answer.succeeded();
  const auto& read = answer.responses(answer.succeeded() ? 1 : 0).response_range();
  if (read.more()) return take_far_place(a, answer, revision);
  look_and_take(a, read, revision);
}

// Many wait before it, so it is not its turn; if all of them died, it finds out when it looks out.
void etcd_engine::placed_among_many(const std::shared_ptr<acquiring>& a, std::int64_t lease,
                                    const pb::TxnResponse& answer, std::int64_t revision) {
  a->call->not_after = time_point::max();
  a->wish.known = a->unseen = true;
  const auto there = answer.responses(1).response_range().count();
  if (a->call->over()) return;
  if (there <= some) crowded_.erase(a->name);
  if (there <= some || there > config_.waiters_max) return read_all(a);
  seat s{a->wish.r.what.who, ledger::place(a->wish), revision, revision, lease};
  s.at = a->wish.at;
  wait_far_back(a, s, there - 2);  // itself, and one that holds
}

// Of those who take permits at once the first in the queue tells all of them their turn, and sees in the same step who has come since:
// if each did so, each would refuse all others. Should that one be gone, whoever is next finds it out when it looks out.
void etcd_engine::acquiring::leave_turns_to_others(const ledger& before, ledger& decided) {
  const bool at_once = has_come || o->refused > 0;
  if (!at_once || wish.r.what.how != mode::permit || decided.floor_is_dirty()) return;
  const auto own = std::ranges::find(before.seats(), wish.r.what.who, &seat::who);
  if (own == before.seats().end()) return void(decided = before);  // one who only tries
  if (!wish.known) return;
  if (!own->waits()) {
    // It has its turn, and takes it; nothing else.
    for (std::size_t i = 0; i < before.seats().size(); ++i) {
      if (before.seats()[i].who != own->who) decided.seats()[i] = before.seats()[i];
    }
    return;
  }
  const auto queue = before.queue();
  if (queue.front()->who == own->who || queue.front()->how() != mode::permit) return;
  const auto ahead = std::ranges::find(queue, own->who, &seat::who) - queue.begin();
  decided = before;
  result = tyer::engine::queued{static_cast<std::uint32_t>(ahead), std::max(wish.r.waiter_ttl, milliseconds{1})};
}

void etcd_engine::keep_place(const acquiring& a, std::int64_t lease) {
  leases_.make_last(lease, a.wish.place_lease_ttl, a.wish.r.waiter_ttl);
}

}  // namespace tyer::etcd
