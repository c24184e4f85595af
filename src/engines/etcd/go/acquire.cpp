// acquire: a key of its own, and who was there before it, in one transaction.
#include "core/token.hpp"
#include "engines/etcd/go/engine.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd::go {

namespace {

using tyer::engine::busy;
using tyer::engine::granted;
using tyer::engine::queued;

constexpr int tries_max = 3;

std::uint64_t count(milliseconds ms) { return static_cast<std::uint64_t>(ms.count()); }

// What one who waits for this place has to wait for: a program in Go does not say.
milliseconds left(const place& p, milliseconds otherwise) {
  return p.record ? milliseconds{static_cast<std::int64_t>(p.record->ttl_ms())} : otherwise;
}

}  // namespace

struct go_engine::acquiring {
  call_ptr<answer> call;
  std::string name, key;
  tyer::engine::request r;
  pb::Record record;
  std::int64_t hold_lease = 0, place_lease = 0;
  bool takes_place = false;  // whoever is there
  int tries = 0;
  time_point doubt_before;  // until when its key was in doubt before the write
};

void go_engine::do_acquire(const tyer::engine::request& r, const call_ptr<answer>& c) {
  auto a = std::make_shared<acquiring>();
  a->call = c;
  a->name = std::string{r.what.name};
  a->r = r;
  a->r.what.name = a->name;
  a->record.set_id(std::string{r.what.who.view()});
  a->record.set_owner(std::string{r.owner});
  a->record.set_ttl_ms(count(r.ttl));
  a->record.set_waiter_ttl_ms(count(r.waiter_ttl));
  a->takes_place = r.enqueue;
  calls().in_turn(c, a->name, [this, a] { start(a); });
}

void go_engine::start(const std::shared_ptr<acquiring>& a) {
  if (calls().too_late(*a->call, now())) return;
  mine* m = own(a->r.what.who, a->name);
  if (m == nullptr) return find_leases(a);
  // What this request may make a hold of is not taken away before that hold would be over.
  if (put_off(*m, a->call->sent + std::max(a->r.ttl, 2 * a->r.waiter_ttl))) {
    return m->created == 0 ? find_leases(a) : read_ahead(a);
  }
  // What nobody kept is over, even if the server still has it.
  remove(a->name, m->key, m->created, a->call->deadline, [this, a](const failure* f, fate) {
    if (f != nullptr) return calls().fail(*a->call, *f);
    lose(a->r.what.who);
    if (!a->call->over()) find_leases(a);
  });
}

void go_engine::find_leases(const std::shared_ptr<acquiring>& a) {
  const auto got = [this, a](std::int64_t acquiring::* which, auto go_on) {
    return [this, a, which, go_on](const failure* f, std::int64_t lease) {
      if (f != nullptr) return calls().fail(*a->call, *f);
      if (a->call->over()) return;
      a.get()->*which = lease;
      go_on();
    };
  };
  const auto both = got(&acquiring::place_lease, [this, a] {
    if (!calls().too_late(*a->call, now())) write(a);
  });
  leases_.use(a->r.ttl, a->call->deadline,
              got(&acquiring::hold_lease, [this, a, both] { leases_.use(a->r.waiter_ttl, a->call->deadline, both); }),
              named_after(a->name));
}

// If nobody is there, it holds; else it stands in the queue, and sees who is before it. One who only tries takes no place,
// unless what is there turns out to belong to other names. Only where nothing lies: should this come late, it is not put over what its
// repetition has been granted, and under the lease of a place.
void go_engine::write(const std::shared_ptr<acquiring>& a) {
  mine& m = mine_[a->r.what.who];
  if (m.key.empty()) {
    m.name = a->name;
    m.who = a->r.what.who;
    m.named = a->hold_lease;
    m.key = layout_.key(a->name, m.named);
    by_key_[m.key] = m.who;
  }
  a->key = m.key;
  m.unknown = true;
  a->doubt_before = begin_doubt(m.key, a->call->deadline);
  const auto room = layout_.room(a->name);
  pb::TxnRequest t;
  only_if_created(t, room.from, 0);
  t.mutable_compare(0)->set_range_end(room.to);
  a->record.set_lease_ms(count(rounded(a->r.ttl)));
  put(*t.add_success(), m.key, a->record, a->hold_lease);
  if (a->takes_place) {
    a->record.set_lease_ms(count(rounded(a->r.waiter_ttl)));
    auto& place = *t.add_failure()->mutable_request_txn();
    only_if_created(place, m.key, 0);
    put(*place.add_success(), m.key, a->record, a->place_lease);
  }
  read_all(*t.add_failure()->mutable_request_range(), room);
  // Should the answer get lost, the key is not to stay for as long as others keep the lease.
  m.due = a->call->sent + std::max(a->r.ttl, 2 * a->r.waiter_ttl);
  overdue_->set(m.key, 0, m.due);
  if (leases_.kept_at(a->hold_lease) < a->call->sent)
    leases_.renew(a->hold_lease, a->call->sent, a->r.ttl, [](const failure*, bool, time_point) {});
  link_.call<pb::TxnRequest, pb::TxnResponse>(method::txn, std::move(t), a->call->deadline,
                                              [this, a](const failure* f, pb::TxnResponse& answer) {
                                                if (f != nullptr) return not_written(a, *f);
                                                link_.saw(answer.header());
                                                written(a, answer);
                                              });
}

// It may still be written later: then under this key, which is nobody else's.
void go_engine::not_written(const std::shared_ptr<acquiring>& a, const failure& f) {
  leases_.forget(a->hold_lease);
  if (f.kind == why::unknown) return calls().fail(*a->call, f);
  end_doubt(a->key, a->doubt_before);
  if (mine* m = own(a->r.what.who, a->name)) {
    m->unknown = false;
    lose(m->who);
  }
  if (!names_a_lost_lease(f)) return calls().fail(*a->call, f);
  leases_.forget(a->place_lease);
  again(a);
}

void go_engine::written(const std::shared_ptr<acquiring>& a, const pb::TxnResponse& answer) {
  end_doubt(a->key, a->doubt_before);
  mine* m = own(a->r.what.who, a->name);
  if (m == nullptr || m->key != a->key) {  // it took longer than it was to last
    return remove(a->name, a->key, 0, a->call->deadline,
                  [this, a](const failure* f, fate) { f != nullptr ? calls().fail(*a->call, *f) : again(a); });
  }
  m->unknown = false;
  const auto revision = answer.header().revision();
  if (answer.succeeded()) {
    m->created = m->modified = revision;
    m->lease = a->hold_lease;
    m->record = a->record;
    m->record.set_lease_ms(count(rounded(a->r.ttl)));
    return grant_once_kept(a);
  }
  const auto read = go::read(layout_, a->name, answer.responses(answer.responses_size() - 1).response_range());
  if (const auto* wrong = std::get_if<failure>(&read)) return step_back(a, *wrong);
  settle(a, std::get<0>(read), revision);
}

// It has a key already.
void go_engine::read_ahead(const std::shared_ptr<acquiring>& a) {
  pb::RangeRequest r;
  read_all(r, layout_.room(a->name));
  r.set_max_create_revision(own(a->r.what.who, a->name)->created);
  link_.call<pb::RangeRequest, pb::RangeResponse>(method::range, std::move(r), a->call->deadline,
                                                  [this, a](const failure* f, pb::RangeResponse& answer) {
                                                    if (f != nullptr) return calls().fail(*a->call, *f);
                                                    link_.saw(answer.header());
                                                    const auto read = go::read(layout_, a->name, answer);
                                                    if (const auto* wrong = std::get_if<failure>(&read))
                                                      return calls().fail(*a->call, *wrong);
                                                    settle(a, std::get<0>(read), answer.header().revision());
                                                  });
}

void go_engine::settle(const std::shared_ptr<acquiring>& a, const std::vector<place>& all, std::int64_t revision) {
  if (a->call->over()) return;
  mine* m = own(a->r.what.who, a->name);
  if (m == nullptr) return again(a);
  const auto at = std::ranges::find(all, m->key, &place::key);
  if (at == all.end() && m->created == 0) {  // one who only tries
    if (!all.empty()) return step_back(a, answer{busy{left(all.front(), a->r.waiter_ttl)}});
    a->takes_place = true;
    return write(a);
  }
  if (at == all.end() || (m->created != 0 && at->created != m->created)) {
    find_lost(m->who);
    return again(a);
  }
  if (at->record && at->who != m->who) {  // of another, whose request came late
    return remove(a->name, m->key, at->created, a->call->deadline,
                  [this, a](const failure* f, fate) { f != nullptr ? calls().fail(*a->call, *f) : again(a); });
  }
  m->leaving = false;
  m->created = at->created;
  m->modified = at->modified;
  m->lease = at->lease;
  if (at->record) m->record = *at->record;
  if (at == all.begin()) return claim(a);
  if (!a->r.enqueue) return step_back(a, answer{busy{left(all.front(), a->r.waiter_ttl)}});
  queue(a, {all.begin(), at}, revision);
}

void go_engine::queue(const std::shared_ptr<acquiring>& a, const std::vector<place>& ahead, std::int64_t revision) {
  mine& m = *own(a->r.what.who, a->name);
  m.waits = true;
  m.woken = false;
  m.due = {};
  keep_until(m, a->call->sent + a->r.waiter_ttl);
  leases_.renew(m.lease, a->call->sent, a->r.waiter_ttl, [](const failure*, bool, time_point) {});
  watch_own(m);
  const bool is_next = ahead.size() == 1;
  watch_ahead(m, ahead.back().key, is_next, revision);
  const auto look_again = is_next ? left(ahead.front(), a->r.waiter_ttl) : a->r.waiter_ttl;
  calls().answer<answer>(
      *a->call, answer{queued{static_cast<std::uint32_t>(ahead.size() - 1), std::max(look_again, milliseconds{1})}});
}

// It is the first. A lease that is long enough is all that is missing.
void go_engine::claim(const std::shared_ptr<acquiring>& a) {
  const auto length = count(rounded(a->r.ttl));
  if (own(a->r.what.who, a->name)->record.lease_ms() >= length) return grant_once_kept(a);
  leases_.use(a->r.ttl, a->call->deadline, [this, a, length](const failure* f, std::int64_t lease) {
    if (f != nullptr) return calls().fail(*a->call, *f);
    mine* m = own(a->r.what.who, a->name);
    if (a->call->over()) return;
    if (m == nullptr) return again(a);
    m->record.set_lease_ms(length);
    m->record.set_ttl_ms(std::max(m->record.ttl_ms(), count(a->r.ttl)));
    pb::TxnRequest t;
    only_if_created(t, m->key, m->created);
    put(*t.add_success(), m->key, m->record, lease);
    if (leases_.kept_at(lease) < a->call->sent)
      leases_.renew(lease, a->call->sent, a->r.ttl, [](const failure*, bool, time_point) {});
    link_.call<pb::TxnRequest, pb::TxnResponse>(
        method::txn, std::move(t), a->call->deadline, [this, a, lease](const failure* wrong, pb::TxnResponse& answer) {
          mine* const moved = own(a->r.what.who, a->name);
          if (wrong != nullptr && names_a_lost_lease(*wrong)) leases_.forget(lease);
          if (wrong != nullptr && moved != nullptr) moved->record.set_lease_ms(0);  // not known which it is: once more
          if (wrong != nullptr) return names_a_lost_lease(*wrong) ? again(a) : calls().fail(*a->call, *wrong);
          link_.saw(answer.header());
          if (moved == nullptr) return again(a);
          if (!answer.succeeded()) {
            find_lost(moved->who);
            return again(a);
          }
          moved->modified = answer.header().revision();
          moved->lease = lease;
          grant_once_kept(a);
        });
  });
}

// Time counts from when this request left, so its lease must have been confirmed since.
void go_engine::grant_once_kept(const std::shared_ptr<acquiring>& a) {
  mine* m = own(a->r.what.who, a->name);
  if (a->call->over()) return;
  if (m == nullptr) return again(a);
  if (leases_.kept_at(m->lease) >= a->call->sent) return grant(a);
  leases_.renew(m->lease, a->call->sent, a->r.ttl,
                [this, a, lease = m->lease](const failure* f, bool alive, time_point) {
                  if (a->call->over()) return;
                  if (f != nullptr) return calls().fail(*a->call, *f);
                  if (alive && own(a->r.what.who, a->name) != nullptr) return grant(a);
                  leases_.forget(lease);
                  find_lost(a->r.what.who);
                  again(a);
                });
}

// A part is what Go's programs compare too, so nothing can be added to it.
void go_engine::grant(const std::shared_ptr<acquiring>& a) {
  mine& m = *own(a->r.what.who, a->name);
  const auto part = static_cast<std::uint64_t>(m.created) * places_per_revision;
  if (part <= a->r.seen || part > core::part_max) {
    return step_back(a, no(why::refused, errc::refused,
                           "a later token than etcd's revision has been seen: was its data restored from a copy?"));
  }
  if (m.waits && m.own != 0) its_turn(m);  // told before the watch does
  if (std::exchange(m.waits, false)) m.due = {};
  if (m.ahead != 0) watches_.remove(std::exchange(m.ahead, 0));
  keep_until(m, a->call->sent + a->r.ttl);
  watch_when_lasting(m.who);
  calls().answer<answer>(
      *a->call, answer{granted{.part = part, .ttl = a->r.ttl, .key = {m.key, static_cast<std::uint64_t>(m.created)}}});
}

// Leaves nothing behind.
void go_engine::step_back(const std::shared_ptr<acquiring>& a, std::variant<answer, failure> result) {
  mine& m = *own(a->r.what.who, a->name);
  const bool is_there = m.created != 0 || a->takes_place;
  if (!is_there) {
    lose(m.who);
    return calls().answer<answer>(*a->call, std::move(result));
  }
  remove(a->name, m.key, m.created, a->call->deadline, [this, a, result = std::move(result)](const failure* f, fate) {
    if (f != nullptr) return calls().fail(*a->call, *f);
    lose(a->r.what.who);
    calls().answer<answer>(*a->call, result);
  });
}

void go_engine::again(const std::shared_ptr<acquiring>& a) {
  if (a->call->over()) return;
  if (++a->tries > tries_max) {
    return calls().fail(*a->call,
                        no(why::unknown, errc::outcome_unknown, "its keys went as soon as they were written"));
  }
  start(a);
}

}  // namespace tyer::etcd::go
