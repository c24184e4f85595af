#include "engines/etcd/transactions.hpp"

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
  c.set_target(pb::Compare::MOD);
  c.set_result(pb::Compare::LESS);
  c.set_mod_revision(revision + 1);
}

void else_look(pb::TxnRequest& t, const key_range& room) {
  auto& r = *t.add_failure()->mutable_request_range();
  r.set_key(room.from);
  r.set_range_end(room.to);
}

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

pb::TxnRequest take_if_free(const key_range& room, const std::string& key, std::string value, std::int64_t lease) {
  pb::TxnRequest t;
  only_if_absent(t, room.from);
  t.mutable_compare(0)->set_range_end(room.to);
  auto& p = *t.add_success()->mutable_request_put();
  p.set_key(key);
  p.set_value(std::move(value));
  p.set_lease(lease);
  read_oldest(*t.add_failure()->mutable_request_range(), room, some);
  return t;
}

pb::TxnRequest give_back_if_alone(const key_range& room, const std::string& key, std::int64_t modified) {
  pb::TxnRequest t;
  only_if_unchanged(t, key, modified);
  only_if_nothing_newer(t, room, modified);
  t.add_success()->mutable_request_delete_range()->set_key(key);
  else_look(t, room);
  return t;
}

pb::TxnRequest write_changes(const ledger& l, const keys& names, const std::string& name, if_meanwhile m) {
  pb::TxnRequest t;
  const auto room = names.room(name);
  if (m == if_meanwhile::nobody_came) only_if_nothing_newer(t, room, l.revision());
  for (const seat& s : l.seats()) {
    const auto key = names.seat(name, s.at);
    if (s.dirty || s.removed) s.fresh ? only_if_absent(t, key) : only_if_unchanged(t, key, s.modified);
    if (s.removed) {
      t.add_success()->mutable_request_delete_range()->set_key(key);
    } else if (s.dirty) {
      auto& p = *t.add_success()->mutable_request_put();
      p.set_key(key);
      p.set_value(write_value(s.record));
      p.set_lease(s.lease);
    }
  }
  if (l.floor_is_dirty() && l.floor() == 0) {
    t.add_success()->mutable_request_delete_range()->set_key(names.floor(name));
  } else if (l.floor_is_dirty()) {
    auto& p = *t.add_success()->mutable_request_put();
    p.set_key(names.floor(name));
    p.set_value(std::to_string(l.floor()));
  }
  else_look(t, room);
  return t;
}

}  // namespace tyer::etcd
