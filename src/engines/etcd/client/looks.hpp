// Who is to look for those ahead of it, and when: a few at a time. Behind a new connection those of ten thousand names are to look in
// the same moment, and whatever else the client has to say would wait behind them.
//
// Thread safety: none.
#pragma once

#include "engine/engine.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <unordered_set>

namespace tyer::etcd {

class looks {
 public:
  using id = engine::id;
  using time_point = engine::time_point;

  static constexpr std::size_t at_once = 64;

  void set(time_point at, const id& who) { due_.emplace(at, who); }
  time_point next() const { return may_begin() && !due_.empty() ? due_.begin()->first : time_point::max(); }
  std::optional<id> take_due(time_point now);

  bool may_begin() const { return under_way_.size() < at_once; }
  bool begin(const id& who) { return under_way_.insert(who).second; }  // false: it looks already
  void end(const id& who) { under_way_.erase(who); }
  void end_all() { under_way_.clear(); }  // what was on its way has come to nothing

 private:
  std::multimap<time_point, id> due_;
  std::unordered_set<id, core::id_hash> under_way_;
};

}  // namespace tyer::etcd
