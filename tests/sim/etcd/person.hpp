// One client: the real etcd engine on the fake wire, and some who want locks of it.
#pragma once

#include "core/clock.hpp"
#include "core/id.hpp"
#include "engines/etcd/locks/engine.hpp"
#include "sim/etcd/caller.hpp"
#include "sim/etcd/plan.hpp"

#include <array>
#include <memory>
#include <vector>

namespace tyer::sim::etcd {

class person final : private engine::events {
 public:
  person(surroundings&, std::size_t index, dice);
  ~person() { kill(); }

  // --- faults ---

  void start();
  void kill();                    // without a word to the server
  void stop(bool whole_process);  // nothing in it happens; or only its loop stands still, and the wire does not
  void go_on();

  // Something comes from the wire, or a timer rings.
  void deliver(task);

  // --- for the callers ---

  void later(duration, task);
  moment now() const { return around_.time.now(); }
  engine::engine& seam() { return *life_->engine; }
  engine::id next_id() { return life_->ids.next(); }
  surroundings& around() { return around_; }
  std::size_t index() const { return index_; }
  std::uint64_t made_up_part = 1;  // for a planted bug

  // --- for the judge ---

  bool waits_for(std::size_t name) const;
  bool idle() const;
  bool could_take_away(
      const id&) const;       // it is alive and running, the id is of this life, and none of its callers' any more
  std::string stuck() const;  // who is not idle

 private:
  struct own_clock final : core::clock {
    explicit own_clock(const world& w) : time(w) {}
    moment now() const noexcept override { return time.now(); }
    bool flows() const noexcept override { return false; }
    const world& time;
  };
  struct own_ids final : core::id_source {
    explicit own_ids(std::uint64_t n) : number(n) {}
    std::uint64_t nonce() const noexcept override { return number; }
    core::id next() override;
    std::uint64_t number, count = 0;
  };
  struct living {
    explicit living(std::uint64_t nonce) : ids(nonce) {}
    own_ids ids;
    std::array<caller, callers_each> callers;
    std::unique_ptr<engine::engine> engine;
  };

  void wake(const id&) override;
  void suspect(const id&) override;
  void gone(const id&) override;
  void asked(const id&, std::string_view) override {}
  void changed(std::string_view) override {}
  void up(const engine::server_facts&) override;
  void down(const engine::failure&) override {}

  caller* find(const id&);
  void enter(task);
  void run_soon();
  void run();
  void beat();  // what the engine does by itself, at the latest then

  surroundings& around_;
  const std::size_t index_;
  dice dice_;
  own_clock clock_;
  std::uint64_t lives_ = 0;
  std::unique_ptr<living> life_;
  bool process_stopped_ = false, loop_stopped_ = false, run_is_due_ = false;
  std::vector<task> from_wire_, from_callers_;
};

}  // namespace tyer::sim::etcd
