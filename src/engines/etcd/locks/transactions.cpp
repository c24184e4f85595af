#include "engines/etcd/locks/transactions.hpp"

#include <utility>

namespace tyer::etcd {

namespace {

void only_if_absent(pb::TxnRequest& t, const std::string& key) {
  auto& c = *t.add_compare();
  c.set_key(key);
  c.set_target(pb::Compare::CREATE);
  c.set_create_revision(0);
}

void only_if_unchanged(pb::TxnRequest& t, const std::string& key, std::int64_t modified) {
  auto& c = *t.add_compare();
  c.set_key(key);
  c.set_target(pb::Compare::MOD);
  c.set_mod_revision(modified);
}

void only_if_nothing_newer(pb::TxnRequest& t, const key_range& room, std::int64_t revision) {
  auto& c = *t.add_compare();
  c.set_key(room.from);
  c.set_range_end(room.to);
  c.set_result(pb::Compare::LESS);
  c.set_target(pb::Compare::MOD);
  c.set_mod_revision(revision + 1);
}

// No two seats have one create revision.
void only_if_nobody_else(pb::TxnRequest& t, const key_range& seats, std::int64_t created) {
  auto& c = *t.add_compare();
  c.set_key(seats.from);
  c.set_range_end(seats.to);
  c.set_target(pb::Compare::CREATE);
  c.set_create_revision(created);
}

// The one that comes gets a token of the write, whatever a floor would say.
void only_if_company_stays(pb::TxnRequest& t, const ledger& l, const keys& names, const std::string& name) {
  const seat* const comes = l.company_of_new_reader();
  const seat& company = comes != nullptr ? *comes : *l.company_of_one_that_leaves();
  only_if_unchanged(t, names.seat(name, company.at), company.modified);
  if (comes != nullptr) only_if_absent(t, names.floor(name));
}

void put(pb::RequestOp& o, new_key e) {
  auto& p = *o.mutable_request_put();
  p.set_key(std::move(e.key));
  p.set_value(std::move(e.value));
  p.set_lease(e.lease);
}

void read(pb::RequestOp& o, const key_range& room) {
  auto& r = *o.mutable_request_range();
  r.set_key(room.from);
  r.set_range_end(room.to);
}

void else_look(pb::TxnRequest& t, const key_range& room) { read(*t.add_failure(), room); }

void read_sorted(pb::RangeRequest& r, const key_range& room, std::int64_t limit, pb::RangeRequest::SortOrder order) {
  r.set_key(room.from);
  r.set_range_end(room.to);
  r.set_limit(limit);
  r.set_sort_order(order);
  r.set_sort_target(pb::RangeRequest::CREATE);
}

}  // namespace

void read_oldest(pb::RangeRequest& r, const key_range& room, std::int64_t limit) {
  read_sorted(r, room, limit, pb::RangeRequest::ASCEND);
}

void read_newest(pb::RangeRequest& r, const key_range& room, std::int64_t limit) {
  read_sorted(r, room, limit, pb::RangeRequest::DESCEND);
}

pb::TxnRequest take_if_free(const key_range& room, new_key hold) {
  pb::TxnRequest t;
  only_if_absent(t, room.from);
  t.mutable_compare(0)->set_range_end(room.to);
  put(*t.add_success(), std::move(hold));
  return t;
}

pb::TxnRequest take_place(const key_range& room, new_key place, company c) {
  pb::TxnRequest t;
  only_if_absent(t, place.key);
  put(*t.add_success(), std::move(place));
  auto& others = *t.add_success()->mutable_request_range();
  if (c == company::many) {
    others.set_key(room.from);
    others.set_range_end(room.to);
    others.set_count_only(true);
  } else {
    read_oldest(others, room, some);
    read_newest(*t.add_success()->mutable_request_range(), room, 2);
  }
  else_look(t, room);
  return t;
}

pb::TxnRequest give_back_if_alone(const keys& names, const std::string& name, const std::string& key,
                                  std::int64_t created, std::int64_t modified) {
  pb::TxnRequest t;
  only_if_unchanged(t, key, modified);
  only_if_nobody_else(t, names.seats(name), created);
  t.add_success()->mutable_request_delete_range()->set_key(key);
  *t.mutable_failure() = look_who_is_next(names, name).success();
  return t;
}

pb::TxnRequest leave(const key_range& room, const std::string& key, std::int64_t modified, std::int64_t see) {
  pb::TxnRequest t;
  only_if_unchanged(t, key, modified);
  t.add_success()->mutable_request_delete_range()->set_key(key);
  read_oldest(*t.add_success()->mutable_request_range(), room, see);
  return t;
}

pb::TxnRequest look_who_is_next(const keys& names, const std::string& name) {
  pb::TxnRequest t;
  read_oldest(*t.add_success()->mutable_request_range(), names.room(name), some);
  t.add_success()->mutable_request_range()->set_key(names.floor(name));
  return t;
}

// Of many that come or leave at once each would refuse all others once.
if_meanwhile needed_for(const ledger& l, int refused) {
  if (l.only_claims()) return if_meanwhile::anything;
  if (l.only_turns_of_permits()) return if_meanwhile::they_wait;
  const bool joins = refused > 0 && l.company_of_new_reader() != nullptr;
  return joins || l.company_of_one_that_leaves() != nullptr ? if_meanwhile::company_stays : if_meanwhile::nobody_came;
}

pb::TxnRequest write_changes(const ledger& l, const keys& names, const std::string& name, if_meanwhile m) {
  pb::TxnRequest t;
  const auto room = names.room(name);
  if (m == if_meanwhile::nobody_came) only_if_nothing_newer(t, room, l.revision());
  if (m == if_meanwhile::company_stays) only_if_company_stays(t, l, names, name);
  for (const seat& s : l.seats()) {
    const auto key = names.seat(name, s.at);
    if (s.dirty || s.removed) s.fresh ? only_if_absent(t, key) : only_if_unchanged(t, key, s.modified);
    if (s.removed) {
      t.add_success()->mutable_request_delete_range()->set_key(key);
    } else if (s.dirty) {
      put(*t.add_success(), {key, write_value(s.record), s.lease});
    }
  }
  if (l.floor_is_dirty() && l.floor() == 0) {
    t.add_success()->mutable_request_delete_range()->set_key(names.floor(name));
  } else if (l.floor_is_dirty()) {
    put(*t.add_success(), {names.floor(name), std::to_string(l.floor())});
  }
  const bool may_have_left_others = m == if_meanwhile::nobody_came && l.somebody_waits();
  if (may_have_left_others || m == if_meanwhile::they_wait)
    read(*t.add_success(), room);  // who has come since counts on it
  else_look(t, room);
  return t;
}

}  // namespace tyer::etcd
