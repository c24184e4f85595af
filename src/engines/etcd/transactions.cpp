#include "engines/etcd/transactions.hpp"

#include <utility>

namespace tyer::etcd {

namespace {

void else_look(pb::TxnRequest& t, const key_range& room) {
  auto& r = *t.add_failure()->mutable_request_range();
  r.set_key(room.from);
  r.set_range_end(room.to);
}

}  // namespace

pb::TxnRequest take_if_free(const key_range& room, const std::string& key, std::string value, std::int64_t lease) {
  pb::TxnRequest t;
  auto& c = *t.add_compare();
  c.set_key(room.from);
  c.set_range_end(room.to);
  c.set_target(pb::Compare::CREATE);
  c.set_create_revision(0);
  auto& p = *t.add_success()->mutable_request_put();
  p.set_key(key);
  p.set_value(std::move(value));
  p.set_lease(lease);
  else_look(t, room);
  return t;
}

pb::TxnRequest give_back_if_alone(const key_range& room, const std::string& key, std::int64_t modified) {
  pb::TxnRequest t;
  auto& own = *t.add_compare();
  own.set_key(key);
  own.set_target(pb::Compare::MOD);
  own.set_mod_revision(modified);
  auto& others = *t.add_compare();
  others.set_key(room.from);
  others.set_range_end(room.to);
  others.set_target(pb::Compare::MOD);
  others.set_result(pb::Compare::LESS);
  others.set_mod_revision(modified + 1);
  t.add_success()->mutable_request_delete_range()->set_key(key);
  else_look(t, room);
  return t;
}

}  // namespace tyer::etcd
