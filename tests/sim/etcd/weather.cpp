#include "sim/etcd/weather.hpp"

#include <algorithm>
#include <string>

namespace tyer::sim::etcd {

duration weather::latency(std::size_t client) {
  const sky& s = over_[client];
  if (world_.now() < s.slow) return dice_.skewed(1ms, s.slowness);
  if (dice_.chance(5)) return dice_.between(2ms, 60ms);
  return dice_.between(100us, 900us);
}

journey weather::over(const exchange& e) {
  const sky& s = over_[e.client];
  const auto now = world_.now();
  journey j{latency(e.client), latency(e.client)};
  if (now < s.lossy && dice_.chance(300)) (dice_.chance(500) ? j.request_lost : j.answer_lost) = true;
  if (now < s.refusing && dice_.chance(400)) j.refused = true;
  if (now < s.breaking && dice_.chance(200)) j.broken_off = true;
  if (now < s.repeating && dice_.chance(300)) j.repeated = true;
  return j;
}

void weather::turn(std::size_t client, bool for_all) {
  const auto until = world_.now() + dice_.between(200ms, 6s);
  const auto kind = dice_.below(5);
  const auto slowness = dice_.skewed(5ms, 1500ms);
  for (std::size_t c = for_all ? 0 : client; c < (for_all ? people : client + 1); ++c) {
    sky& s = over_[c];
    if (kind == 0) {
      s.slow = until;
      s.slowness = slowness;
    }
    if (kind == 1) s.lossy = until;
    if (kind == 2) s.refusing = until;
    if (kind == 3) s.repeating = until;
    if (kind == 4) s.breaking = until;
  }
}

void weather::bend(const exchange& e, std::string& request) const {
  if (e.method != "Txn") return;
  pb::TxnRequest t;
  t.ParseFromString(request);
  if (slip_ == slip::takes_without_looking && t.compare_size() == 1 && !t.compare(0).range_end().empty() &&
      t.compare(0).target() == pb::Compare::CREATE) {
    t.clear_compare();
  } else if (slip_ == slip::writes_without_lease) {
    for (auto& op : *t.mutable_success()) {
      if (op.has_request_put()) op.mutable_request_put()->clear_lease();
    }
  } else {
    return;
  }
  request = t.SerializeAsString();
}

}  // namespace tyer::sim::etcd
