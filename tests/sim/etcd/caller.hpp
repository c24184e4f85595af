// Somebody who wants locks, directly at the seam: asks, waits, keeps, gives back, as a runtime does, but no cleverer.
//
// It believes only what the seam promises: a hold is its own from the reply until `sent` plus what was given, and no longer.
#pragma once

#include "engine/engine.hpp"
#include "sim/etcd/plan.hpp"

#include <cstdint>
#include <string>

namespace tyer::sim::etcd {

class person;

class caller {
 public:
  void start(person&, dice);
  void die();  // its process is no more

  void on_wake();
  void on_suspect();
  void on_gone();

  const engine::id& who() const { return who_; }
  bool waits_for(std::size_t name) const { return (is_ == phase::asking || is_ == phase::waiting) && name == name_; }
  bool idle() const { return is_ == phase::resting && !calling_; }
  std::string words() const;

 private:
  enum class phase : std::uint8_t { resting, asking, waiting, holding, leaving };

  void rest();
  void want();
  void ask();
  void on_answer(engine::outcome<engine::answer>&&);
  void on_granted(const engine::granted&, moment sent);
  void on_queued(const engine::queued&);
  void keep();
  void on_kept(fate as, engine::outcome<engine::kept>&&);
  void keep_later(duration);
  void convert();  // to the other mode
  void on_converted(engine::mode to, const floors&, engine::outcome<engine::answer>&&);
  void ring();  // its time may be over
  void leave();
  void give_back();
  void close(moment when);
  engine::target target() const { return {who_, names[name_], how_}; }

  template <class F>
  void later(duration, F);

  person* home_ = nullptr;
  dice dice_{0};
  phase is_ = phase::resting;
  std::uint64_t turn_ = 0, keeps_ = 0;  // wishes, and chains of keeping
  bool calling_ = false, again_ = false, keeping_ = false, queues_ = false, open_ = false, upgrading_ = false;
  engine::id who_;
  std::size_t name_ = 0;
  engine::mode how_ = engine::mode::exclusive;
  std::uint32_t take_ = 1;
  milliseconds ttl_{}, waiter_ttl_{};
  moment gives_up_, valid_until_;
  floors floor_;
  std::size_t window_ = 0;
  int tries_ = 0;
};

}  // namespace tyer::sim::etcd
