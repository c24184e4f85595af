// The server: the reference model of an engine, restarted, paused and robbed of its memory.
//
// What the operations mean is the memory engine's resource and nothing else; planted bugs bend its answers from outside.
#pragma once

#include "engines/kit/resource.hpp"
#include "sim/bugs.hpp"
#include "sim/call.hpp"
#include "sim/line_judge.hpp"
#include "sim/world.hpp"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace tyer::sim {

// One hold or waiter, as the server has it.
struct occupant {
  id who;
  fate what;
  mode how;
  std::uint64_t part = 0;
  bool upgrading = false;
  std::vector<std::uint32_t> slots = {};
};

class server {
 public:
  server(world& w, bug planted);

  answers execute(const call& c);

  // ---- faults

  void remember() { backup_ = resources_; }  // what a rollback comes back to
  void roll_back();
  void wipe();
  void break_one(std::uint64_t which);  // an operator breaks a hold

  bool up = true;
  bool paused = false;
  std::uint64_t generation = 1;  // the server's id: another one after a restart

  // ---- for the checks

  std::vector<occupant> entries(std::size_t name) const;
  std::size_t left() const;                                                 // holds and waiters
  bool endless() const;                                                     // something will never be forgotten
  bool holds(std::size_t name, const id& who) const;                        // a hold, not a waiter
  bool was_broken(const id& who) const { return broken_.contains(who); }    // by an operator
  bool excused(const id& who) const { return resurrected_.contains(who); }  // came back from a backup
  moment last_asked_for(const id& who) const;                               // by an acquire that was executed

  std::function<void(const kit::notice&)> tell;
  // Something of this name was forgotten; whatever was promised before is promised until then.
  std::function<void(std::size_t name, moment until)> lost;
  // A hold was broken: its owner will hear of it, and believes that it has it until then.
  std::function<void(std::size_t name, const id& who, moment until)> broken;

 private:
  struct counter {  // tokens as a planted bug shows them
    std::uint64_t last = 0;
    std::map<id, std::uint64_t> shown;
  };
  struct request {  // of an id, to ask again for it
    engine::request what;
    moment since;
  };

  answers acquire(const call& c);
  fate keep(const engine::target& t, const call& c);
  fate release(const engine::target& t, const call& c);
  answers convert(const call& c);
  answers refuse_late(const call& c, const id& who);
  void publish();
  void promise(std::size_t name, moment sent, milliseconds ttl);
  kit::resource& of(std::string_view name) { return resources_[index_of(name)]; }

  // Planted bugs.
  void spoil(engine::request& r, kit::resource& of);
  void spoil(engine::granted& g, std::size_t name, const call& c);
  void spoil_release(const engine::target& t, bool clean, fate was);
  void spoil_conversion(engine::answer& a, const call& c);
  void let_past_the_queue(kit::resource& r, const engine::request& reader);
  void feed_the_dead();
  void take_by_force(const engine::target& t);
  bool grant_again(const engine::target& t, const call& c);
  std::uint64_t bent(std::size_t name, const id& who, std::uint64_t part);

  world& world_;
  const bug bug_;
  using all = std::array<kit::resource, names.size()>;
  all resources_, backup_;
  line_judge judge_;
  kit::notices out_;
  std::array<moment, names.size()> promised_{};
  std::set<id> resurrected_, broken_;
  std::unordered_map<id, moment, core::id_hash> asked_for_;

  // For planted bugs: held and never released; was in the queue; what an id has asked for; token parts of writers.
  std::set<id> expired_ok_, queued_once_;
  std::map<id, request> requests_;
  std::map<id, std::uint64_t> writers_;
  std::set<id> downgraded_;
  std::array<counter, names.size()> counters_;
};

}  // namespace tyer::sim
