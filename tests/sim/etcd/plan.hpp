// One run of the real etcd engine of several clients on the fake: who is there, and what is wrong with the engine or the server.
#pragma once

#include "sim/checker.hpp"
#include "sim/dice.hpp"
#include "sim/etcd/fake_etcd.hpp"
#include "sim/scenario.hpp"
#include "sim/world.hpp"

namespace tyer::sim::etcd {

inline constexpr std::size_t people = 5;  // clients
inline constexpr std::size_t callers_each = 3;
static_assert(people <= clients_max);

inline constexpr const char* prefix = "sim:";

// Planted, besides what the server does wrong (lie).
enum class slip : std::uint8_t {
  none,
  takes_failure_for_kept,  // a renewal without an answer counts as one
  takes_without_looking,   // the free lock is written whoever has it
  writes_without_lease,    // a key stays for ever when its client dies
  believes_pushes,         // a wake is taken for the grant
};

struct planted {
  lie server = lie::none;
  slip client = slip::none;
  bool sets_back = false;  // an operator copies the data now and then, and sets it back to that
};

struct surroundings {
  world& time;
  fake_etcd& wires;
  checker& checks;
  planted bug;
  milliseconds request_timeout;
  bool draining = false;
};

}  // namespace tyer::sim::etcd
