// One acquire on its way.
#pragma once

#include "engines/etcd/locks/engine.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace tyer::etcd {

struct etcd_engine::acquiring {
  call_ptr<answer> call;
  op o;
  std::string name, owner, key;
  ledger::wish wish;
  int tries = 0;
  bool needs_place = false, comes_back = false;
  bool unseen = false;                     // it has taken its place before it knew who else waits
  bool has_come = false;                   // its place was taken just now
  std::optional<time_point> doubt_before;  // until when its key was in doubt before
  time_point spared_until;
  std::variant<answer, failure> result;

  time_point kept_since;  // its lease must have been confirmed then or later
  bool renewing = false;
  std::optional<seat> granted;  // waits for the lease to be confirmed

  void leave_turns_to_others(const ledger& before, ledger& decided);
};

}  // namespace tyer::etcd
