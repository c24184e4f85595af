// What may be written at the server about a name, whoever writes it: no two holders that exclude each other, and nobody has its
// turn before one that came earlier and still waits. But a reader may join other readers before one that has come while its
// request was on the way.
//
// It looks at the keys and knows nothing of the ledger that decided: a naive model of the rules.
#pragma once

#include "engines/etcd/keys.hpp"
#include "sim/etcd/store.hpp"
#include "sim/world.hpp"

#include <map>
#include <string>

namespace tyer::sim::etcd {

class order_judge {
 public:
  using keys = std::map<std::string, pb::KeyValue>;

  order_judge(world& w, std::string prefix) : world_(w), names_(std::move(prefix)) {}

  void look(const keys& before, const keys& now);
  // Holds and places that are there, without the floors of tokens.
  std::size_t left(const keys& now) const;

  std::uint64_t grants = 0;

 private:
  void check_holders(const std::string& name, const keys& now);
  bool may_join_before(const std::string& name, const pb::KeyValue& reader, const pb::KeyValue& place,
                       const keys& now) const;

  world& world_;
  const tyer::etcd::keys names_;
  std::map<std::int64_t, moment> came_;  // by create revision
};

}  // namespace tyer::sim::etcd
