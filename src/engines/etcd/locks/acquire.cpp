// acquire: in one transaction when nobody is there, which is also one for a place in the queue if there was one lately; or the
// claim of what was handed over.
#include "engines/etcd/locks/acquire.hpp"

#include "engines/etcd/locks/transactions.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

constexpr int leases_tried_max = 3;

}  // namespace

void etcd_engine::do_acquire(const tyer::engine::request& r, const call_ptr<answer>& c) {
  if (auto f = ledger::objection(r)) return calls().fail(*c, *std::move(f));
  auto a = std::make_shared<acquiring>();
  a->call = c;
  a->name = std::string{r.what.name};
  a->o = std::make_shared<operation>(c, a->name);
  a->owner = std::string{r.owner};
  a->wish.r = r;
  a->wish.r.what.name = a->name;
  a->wish.r.owner = a->owner;
  a->wish.hold_lease_ttl = rounded(r.ttl);
  a->wish.place_lease_ttl = rounded(r.waiter_ttl);
  a->wish.waiters_max = config_.waiters_max;
  asking_.insert(r.what.who);
  c->when_over = [this, a] { has_its_answer(*a); };
  a->wish.at = numbers_.of(a->name, r.what.who);
  a->key = keys_.seat(a->name, a->wish.at);
  a->o->on_lease_lost = [this, weak = std::weak_ptr{a}] {
    if (const auto self = weak.lock()) again_with_new_lease(self, self->wish.hold_lease);
  };
  calls().in_turn(c, a->name, [this, a] { start_acquiring(a); });
}

// Until then, what is found at its key may be what it has just written.
void etcd_engine::has_its_answer(const acquiring& a) noexcept {
  asking_.erase(asking_.find(a.wish.r.what.who));
  free_number(a.name, a.wish.r.what.who);
}

void etcd_engine::start_acquiring(const std::shared_ptr<acquiring>& a) {
  if (calls().too_late(*a->call, now())) return;
  leases_.use(a->wish.r.ttl, a->call->deadline, [this, a](const failure* f, std::int64_t lease) {
    if (f != nullptr) return calls().fail(*a->call, *f);
    if (a->call->over()) return;
    if (calls().too_late(*a->call, now())) return;
    a->wish.hold_lease = lease;
    spare(*a);
    const auto own = mine_.find(a->wish.r.what.who);
    const bool known = own != mine_.end();
    const bool has_its_turn =
        known && own->second.handed_over && !own->second.upgrading && own->second.due > around().clock->now();
    // Whoever only repeats what it was told before is told as much again.
    a->kept_since = a->call->sent - (known && !has_its_turn ? lease_clock::duration{0} : may_be_earlier(a->wish.r.ttl));
    if (has_its_turn && own->second.key == a->key) return claim(a, own->second);
    const auto next_part = static_cast<std::uint64_t>(link_.revision() + 1) * places_per_revision;
    if (!known && a->wish.r.seen < next_part) return try_free(a);
    read_all(a);
  });
}

// What this request may make a hold of is not taken away before that hold would be over. Should the answer get lost, it
// is then: it is not to stay for as long as others keep the lease.
void etcd_engine::spare(acquiring& a) {
  a.spared_until = a.call->sent + std::max(a.wish.r.ttl, a.wish.r.waiter_ttl);
  if (!a.doubt_before) a.doubt_before = begin_doubt(a.key, a.call->deadline);
  a.wish.known = false;
  const auto at = mine_.find(a.wish.r.what.who);
  if (at == mine_.end()) return overdue_->set(a.key, 0, a.spared_until);
  a.wish.known =
      extend(at->second, a.spared_until);  // else it is too late: it is taken away, and comes back as a new one
}

// Nothing of it is there.
void etcd_engine::end_without_a_write(const acquiring& a) {
  end_doubt(a.key, *a.doubt_before);
  find_lost(a.wish.r.what.who);
  if (!is_in_doubt(a.key)) overdue_->forget(a.key);
  free_number(a.name, a.wish.r.what.who);
}

// At its key lies what is not its own, though it should be free: brought back with an old copy of the data, or written by a
// request that came later than any should. That is left alone, and its number for a while too.
void etcd_engine::sit_elsewhere(acquiring& a) {
  begin_doubt(a.key, around().clock->now());
  overdue_->forget(a.key);
  look_later(a.key);
  a.wish.at = numbers_.another(a.name, a.wish.r.what.who);
  a.key = keys_.seat(a.name, a.wish.at);
  a.doubt_before.reset();
  spare(a);
}

// While the answer is on its way, the lease is kept.
void etcd_engine::renew_for(const std::shared_ptr<acquiring>& a, std::int64_t lease) {
  a->renewing = true;
  leases_.renew(lease, a->kept_since, a->wish.r.ttl, [this, a, lease](const failure* f, bool alive, time_point) {
    a->renewing = false;
    if (a->call->over()) return;
    if (f != nullptr) {
      if (a->granted) calls().fail(*a->call, *f);
      return;
    }
    if (!alive) {
      leases_.forget(lease);
      if (a->granted) again_with_new_lease(a, lease);
      return;
    }
    if (a->granted) grant_once_kept(a, *std::exchange(a->granted, std::nullopt));
  });
}

void etcd_engine::try_free(const std::shared_ptr<acquiring>& a) {
  ledger blank;
  blank.acquire(a->wish);
  seat s = blank.seats().back();
  s.record.set_part(0);
  const auto room = keys_.room(a->name);
  const auto place = lease_of_place(*a);
  if (place != 0 && crowded_.contains(a->name)) return write_place(a, place, company::many);
  auto t = take_if_free(room, {a->key, write_value(s.record), a->wish.hold_lease});
  if (place != 0) {
    *t.add_failure()->mutable_request_txn() = etcd::take_place(room, place_of(*a, place), company::some);
  } else {
    read_oldest(*t.add_failure()->mutable_request_range(), room, some);
  }
  if (leases_.kept_at(a->wish.hold_lease) < a->kept_since) renew_for(a, a->wish.hold_lease);
  link_.call<pb::TxnRequest, pb::TxnResponse>(method::txn, std::move(t), a->call->deadline,
                                              [this, a, s, place](const failure* f, pb::TxnResponse& answer) mutable {
                                                if (f != nullptr) {
                                                  if (names_a_lost_lease(*f)) {
                                                    leases_.forget(place);
                                                    return again_with_new_lease(a, a->wish.hold_lease);
                                                  }
                                                  if (f->kind != why::unknown) end_without_a_write(*a);
                                                  return calls().fail(*a->call, *f);
                                                }
                                                link_.saw(answer.header());
                                                const auto revision = answer.header().revision();
                                                if (!answer.succeeded() && place != 0) {
                                                  a->unseen = true;
                                                  return placed(a, answer.responses(0).response_txn(), revision);
                                                }
                                                if (!answer.succeeded())
                                                  return look_at_some(a, answer.responses(0).response_range(),
                                                                      revision);
                                                s.created = s.modified = revision;
                                                s.fresh = s.dirty = false;
                                                a->result = tyer::engine::granted{0, a->wish.r.ttl, s.slots()};
                                                grant_once_kept(a, s);
                                              });
}

// What was handed over is at the own key alone, so the others need not be looked at.
void etcd_engine::claim(const std::shared_ptr<acquiring>& a, const mine& m) {
  pb::RangeResponse known;
  auto& kv = *known.add_kvs();
  kv.set_key(m.key);
  kv.set_value(m.to_claim);
  kv.set_create_revision(m.created);
  kv.set_mod_revision(m.modified);
  kv.set_lease(m.lease);
  auto l = std::get<ledger>(ledger::from(keys_, known, m.modified));
  a->result = l.acquire(a->wish);
  if (auto* wrong = std::get_if<failure>(&a->result)) return calls().fail(*a->call, std::move(*wrong));
  if (leases_.kept_at(a->wish.hold_lease) < a->kept_since) renew_for(a, a->wish.hold_lease);
  auto t = write_changes(l, keys_, a->name, if_meanwhile::anything);
  link_.call<pb::TxnRequest, pb::TxnResponse>(
      method::txn, std::move(t), a->call->deadline,
      [this, a, l = std::move(l)](const failure* f, pb::TxnResponse& answer) mutable {
        if (f != nullptr) {
          if (names_a_lost_lease(*f)) return again_with_new_lease(a, a->wish.hold_lease);
          return calls().fail(*a->call, *f);
        }
        link_.saw(answer.header());
        const auto revision = answer.header().revision();
        if (!answer.succeeded()) return look_and_take(a, answer.responses(0).response_range(), revision);
        l.wrote(revision);
        grant_once_kept(a, *l.find(a->wish.r.what.who));
      });
}

void etcd_engine::look_and_take(const std::shared_ptr<acquiring>& a, const pb::RangeResponse& read,
                                std::int64_t revision) {
  auto l = ledger::from(keys_, read, revision);
  if (auto* wrong = std::get_if<failure>(&l)) {
    end_doubt(a->key, *a->doubt_before);  // its place may be there: it is looked for once
    return calls().fail(*a->call, std::move(*wrong));
  }
  settle_acquiring(a, std::get<ledger>(std::move(l)));
}

void etcd_engine::settle_acquiring(const std::shared_ptr<acquiring>& a, ledger read) {
  const auto who = a->wish.r.what.who;
  settle(
      a->o, std::move(read),
      [this, a, who](ledger& l) {
        a->needs_place = false;
        const auto taken = [&](const seat& s) { return s.at == a->wish.at && s.who != who; };
        if (std::ranges::any_of(l.seats(), taken)) sit_elsewhere(*a);
        // An id that comes back after its end: first the old key must go, for a key that is only written again keeps
        // its place in the queue.
        a->comes_back = std::ranges::any_of(l.seats(), [&](const seat& s) { return s.removed && s.who == who; });
        if (a->comes_back) return;
        if (a->unseen && l.is_too_far_back(a->wish)) {
          l.remove(who);
          a->result = kit::too_many_wait(a->wish.waiters_max);
          return;
        }
        const ledger before = l;
        a->result = l.acquire(a->wish);
        const seat* s = l.find(who);
        if (s == nullptr || !s->fresh) return a->leave_turns_to_others(before, l);
        // Those who take permits at once would refuse each other again and again; in the queue one gives all of them their turn.
        const bool queues = s->how() == mode::permit && a->o->refused > 0 && a->wish.r.enqueue;
        if (!s->waits() && !queues) return;
        a->needs_place = true;  // which is taken without a condition: those who come at once need not try again
        l = before;
        if (!queues) l.turn();
      },
      [this, a](ledger& l) {
        if (a->comes_back) {
          spare(*a);  // as one that is new
          return read_all(a);
        }
        if (a->needs_place) return take_place(a);
        answer_acquire(a, l);
      });
}

void etcd_engine::read_all(const std::shared_ptr<acquiring>& a) {
  read_and_settle(a->o, [](ledger&) {}, [this, a](ledger& l) { settle_acquiring(a, std::move(l)); });
}

void etcd_engine::answer_acquire(const std::shared_ptr<acquiring>& a, ledger& l) {
  const auto who = a->wish.r.what.who;
  const seat* s = l.find(who);
  if (auto* f = std::get_if<failure>(&a->result)) {
    s == nullptr ? end_without_a_write(*a) : end_doubt(a->key, *a->doubt_before);
    return calls().fail(*a->call, std::move(*f));
  }
  auto& result = std::get<answer>(a->result);
  if (std::holds_alternative<tyer::engine::granted>(result) && s != nullptr) {
    return grant_once_kept(a, *s);
  }
  if (s == nullptr) {
    end_without_a_write(*a);
  } else if (std::holds_alternative<tyer::engine::queued>(result)) {
    mine& m = wait_for_turn(*a, *s, look_out_after);
    if (m.ahead != 0 || m.upgrading) watch_ahead(m, l);
  }
  calls().answer<answer>(*a->call, std::move(a->result));
}

etcd_engine::mine& etcd_engine::wait_for_turn(const acquiring& a, const seat& s, lease_clock::duration look_after) {
  const auto due = a.call->sent + (s.waits() ? a.wish.r.waiter_ttl : a.wish.r.ttl);
  mine& m = have(a.name, s, due);
  end_doubt(a.key, *a.doubt_before);
  if (m.due == a.spared_until) {  // as a place it has less
    m.due = due;
    overdue_->set(m.key, m.modified, m.due);
  }
  keep_place(a, s.lease);
  watch_own(m);
  if (m.waits) look_out(m, look_after);
  return m;
}

// Time counts from when this request left. What the lease was last confirmed for, a little earlier, may be less than the ttl.
void etcd_engine::grant_once_kept(const std::shared_ptr<acquiring>& a, const seat& s) {
  if (a->call->over()) return;
  const auto kept = leases_.kept_at(s.lease);
  if (kept < a->kept_since) {
    a->granted = s;
    if (!a->renewing) renew_for(a, s.lease);
    return;
  }
  const milliseconds length{static_cast<std::int64_t>(s.record.lease_ms())};
  const auto proven = std::chrono::floor<milliseconds>(kept + length - a->call->sent);
  mine& m = have(a->name, s, a->call->sent + a->wish.r.ttl);
  end_doubt(a->key, *a->doubt_before);
  auto& g = std::get<tyer::engine::granted>(std::get<answer>(a->result));
  g.part = s.part();
  g.key = {m.key, static_cast<std::uint64_t>(s.created)};
  g.ttl = std::min(a->wish.r.ttl, proven);
  was_told_of_more(m) ? watch_own(m) : watch_when_lasting(s.who);
  calls().answer<answer>(*a->call, std::move(a->result));
}

void etcd_engine::again_with_new_lease(const std::shared_ptr<acquiring>& a, std::int64_t lease) {
  leases_.forget(lease);
  a->granted.reset();
  a->renewing = false;
  if (++a->tries > leases_tried_max) {
    return calls().fail(*a->call,
                        no(why::unknown, errc::outcome_unknown, "its leases ended as soon as they were granted"));
  }
  start_acquiring(a);
}

}  // namespace tyer::etcd
