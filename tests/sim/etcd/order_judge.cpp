#include "sim/etcd/order_judge.hpp"

#include "engines/etcd/ledger.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

namespace tyer::sim::etcd {

namespace {

using record = pb::Record;

bool waits(const pb::KeyValue& kv) {
  const auto r = tyer::etcd::read_value(kv.value());
  return r && r->state() == record::WAITING;
}

}  // namespace

// Its request may have been on the way for as long as requests are waited for.
bool order_judge::may_join_before(const std::string& name, const pb::KeyValue& reader, const pb::KeyValue& place,
                                  const keys& now) const {
  if (reader.create_revision() != reader.mod_revision() || tyer::etcd::read_value(reader.value())->mode() != 1)
    return false;
  const auto came = came_.find(place.create_revision());
  if (came == came_.end() || world_.now() - came->second > std::chrono::seconds{2}) return false;
  return std::ranges::any_of(now, [&](const auto& each) {
    const auto where = names_.read(each.first);
    return where && where->at && where->name == name && !waits(each.second) &&
           each.second.create_revision() < place.create_revision();
  });
}

void order_judge::look(const keys& before, const keys& now) {
  for (const auto& [key, kv] : now) came_.try_emplace(kv.create_revision(), world_.now());
  for (const auto& [key, kv] : now) {
    const auto where = names_.read(key);
    if (!where || !where->at || waits(kv)) continue;
    const auto was = before.find(key);
    const bool same = was != before.end() && was->second.create_revision() == kv.create_revision();
    if (same && was->second.mod_revision() == kv.mod_revision()) continue;
    check_holders(where->name, now);
    if (same && !waits(was->second)) continue;
    ++grants;
    for (const auto& [other, place] : now) {
      const auto whose = names_.read(other);
      if (!whose || !whose->at || whose->name != where->name || !waits(place)) continue;
      if (place.create_revision() < kv.create_revision() && !may_join_before(where->name, kv, place, now)) {
        world_.broken("live", "out of turn: " + key + " has its turn before " + other);
      }
    }
  }
}

void order_judge::check_holders(const std::string& name, const keys& now) {
  std::size_t exclusive = 0, shared = 0, permits = 0, capacity = 0;
  std::set<std::uint32_t> slots;
  std::size_t taken = 0;
  for (const auto& [key, kv] : now) {
    const auto where = names_.read(key);
    if (!where || !where->at || where->name != name || waits(kv)) continue;
    const auto r = *tyer::etcd::read_value(kv.value());
    ++(r.mode() == 0 ? exclusive : r.mode() == 1 ? shared : permits);
    if (r.mode() != 2) continue;
    capacity = r.capacity();
    taken += r.take();
    slots.insert(r.slots().begin(), r.slots().end());
  }
  const std::size_t kinds = (exclusive > 0 ? 1 : 0) + (shared > 0 ? 1 : 0) + (permits > 0 ? 1 : 0);
  if (exclusive > 1 || kinds > 1) world_.broken("leased", "two holders are written at the server of " + name);
  if (taken > capacity || slots.size() != taken) world_.broken("leased", "permits are given twice of " + name);
}

std::size_t order_judge::left(const keys& now) const {
  std::size_t n = 0;
  for (const auto& [key, kv] : now) {
    const auto where = names_.read(key);
    n += where && where->at ? 1 : 0;
  }
  return n;
}

}  // namespace tyer::sim::etcd
