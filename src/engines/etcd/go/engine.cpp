// The engine of protocol=go, as a whole: what it can, and what the frame asks of it.
#include "engines/etcd/go/engine.hpp"

#include "engines/etcd/go/make.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd::go {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t keep_batch = 60;  // two reads each in a transaction of at most 128 operations
constexpr auto again_after = 500ms;     // when a key could not be taken away

}  // namespace

void only_if_created(pb::TxnRequest& t, const std::string& key, std::int64_t created) {
  auto& c = *t.add_compare();
  c.set_key(key);
  c.set_target(pb::Compare::CREATE);
  c.set_create_revision(created);
}

void put(pb::RequestOp& o, const std::string& key, const pb::Record& r, std::int64_t lease) {
  auto& p = *o.mutable_request_put();
  p.set_key(key);
  p.set_value(write_value(r));
  p.set_lease(lease);
}

void read_all(pb::RangeRequest& r, const key_range& k) {
  r.set_key(k.from);
  r.set_range_end(k.to);
}

go_engine::go_engine(const config& c, const tyer::engine::environment& e)
    : frame(c, e, "protocol=go", layout{e.prefix}.beginning_with("").from), layout_(e.prefix) {}

tyer::engine::capabilities go_engine::can() const noexcept {
  return {.queue = true,
          .push = true,
          .token = true,
          .above_seen = false,
          .watch = true,
          .handoffs = false,
          .ttl_min = 1ms,
          .keep_batch = keep_batch};
}

void go_engine::set_back(std::int64_t revision) {
  for (auto& [who, m] : mine_) m.modified = std::min(m.modified, revision);
}

void go_engine::look_for_turns() {
  looks_.end_all();
  for (const auto& [who, m] : mine_) {
    if (m.waits && m.created != 0) looks_.set(around().clock->now(), who);
  }
}

void go_engine::look_now(time_point now) {
  while (const auto who = looks_.take_due(now)) look_ahead(*who);
}

void go_engine::watch_lasting(const id& who) {
  if (const auto at = mine_.find(who); at != mine_.end() && at->second.created != 0) watch_own(at->second);
}

std::set<std::int64_t> go_engine::leases_of_holds() const {
  std::set<std::int64_t> all;
  for (const auto& [who, m] : mine_) {
    if (!m.waits) all.insert(m.lease);
  }
  return all;
}

void go_engine::gave_up(const std::string& key, std::int64_t modified, bool gone) {
  const auto at = by_key_.find(key);
  if (at == by_key_.end()) return look_later(key);
  const mine& m = mine_.at(at->second);
  if (m.modified > modified) return;  // written anew since
  const auto now = around().clock->now();
  if (gone)
    lose(m.who);
  else if (m.due <= now)
    overdue_->set(key, 0, now + again_after);
}

void go_engine::found_written(const std::string& key, const pb::KeyValue& there) {
  const auto modified = there.mod_revision();
  if (closed() || overdue_->awaits(key)) return;  // somebody asks for it again
  const auto now = around().clock->now();
  const auto at = by_key_.find(key);
  if (modified == 0 && at != by_key_.end() && mine_.at(at->second).due <= now) return lose(at->second);
  if (modified == 0) return look_later(key);
  if (at != by_key_.end()) mine_.at(at->second).modified = modified;
  overdue_->set(key, modified, now);
}

tyer::engine::made make(core::uri& address, const tyer::engine::environment& e) {
  if (address.find("waiters_max")) {
    return {nullptr, {errc::invalid_uri, "?waiters_max= means nothing with ?protocol=go: programs in Go do not count"}};
  }
  auto read = etcd::read(address);
  if (read.error) return {nullptr, std::move(read.error)};
  return {std::make_unique<go_engine>(read.value, e), {}};
}

}  // namespace tyer::etcd::go
