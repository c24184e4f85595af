// The server: the reference model of an engine, restarted, paused and robbed of its memory.
//
// What the operations mean is the memory engine's catalogue and nothing else; planted bugs bend its answers from outside.
#pragma once

#include "engines/memory/catalogue.hpp"
#include "sim/bugs.hpp"
#include "sim/call.hpp"
#include "sim/world.hpp"

#include <array>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

namespace tyer::sim {

class server {
 public:
  server(world& w, bug planted) : world_(w), bug_(planted), catalogue_(limits_for(planted)) {}

  answers execute(const call& c);

  // ---- faults

  void remember() { backup_ = catalogue_; }  // what a rollback comes back to
  void roll_back();
  void wipe();
  void break_one(std::uint64_t which);  // an operator breaks a hold

  bool up = true;
  bool paused = false;
  std::uint64_t generation = 1;  // the server's id: another one after a restart

  // ---- for the checks

  std::vector<engine::entry> entries(std::size_t name) const {
    return catalogue_.list(names[name], "", 1'000'000, world_.now()).entries;
  }
  memory::census count() const { return catalogue_.count(world_.now()); }
  bool excused(const id& who) const { return resurrected_.contains(who); }  // came back from a backup
  moment last_asked_for(const id& who) const;                               // by an acquire that was executed

  std::function<void(const memory::notice&)> tell;
  // Something of this name was forgotten; whatever was promised before is promised until then.
  std::function<void(std::size_t name, moment until)> lost;

 private:
  struct counter {  // tokens as a planted bug shows them
    std::uint64_t last = 0;
    std::map<id, std::uint64_t> shown;
  };

  answers acquire(const call& c);
  fate keep(const engine::target& t, const call& c);
  fate release(const engine::target& t, const call& c);
  void publish();
  void promise(std::size_t name, moment sent, milliseconds ttl);
  void forget(std::size_t name);
  void take_by_force(const engine::target& t, const call& c);
  bool grant_again(const engine::target& t, const call& c);
  std::uint64_t bent(std::size_t name, const id& who, std::uint64_t part);

  world& world_;
  const bug bug_;
  static memory::limits limits_for(bug planted) {
    memory::limits l;
    if (planted == bug::tombstone_without_ttl) l.tombstone_ttl = std::chrono::milliseconds::max();
    return l;
  }

  memory::catalogue catalogue_, backup_;
  memory::notices out_;
  std::array<moment, names.size()> promised_{};
  std::set<id> resurrected_;
  std::unordered_map<id, moment, core::id_hash> asked_for_;
  std::set<id> expired_ok_, queued_once_;  // for planted bugs: held and never released; was in the queue
  std::array<counter, names.size()> counters_;
};

}  // namespace tyer::sim
