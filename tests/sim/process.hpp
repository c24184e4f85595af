// One client: the real coordinator of the library on a simulated engine and a clock of its own, with callers that want locks.
//
// It can be paused (nothing in it happens while time goes on), killed and started again as another client.
#pragma once

#include "runtime/coordinator/coordinator.hpp"
#include "runtime/hold_state.hpp"
#include "sim/checker.hpp"
#include "sim/link.hpp"
#include "sim/worker.hpp"

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace tyer::sim {

// A clock with an offset and a rate of its own.
class own_clock final : public core::clock {
 public:
  own_clock(const world& w, duration offset, std::int64_t ppm) : world_(w), offset_(offset), ppm_(ppm) {}
  moment now() const noexcept override { return at(world_.now()); }
  bool flows() const noexcept override { return false; }
  moment at(moment truth) const noexcept { return truth + drift(truth) + offset_; }
  moment truth_of(moment local) const noexcept;  // when it shows that, rounded up
  moment truth(moment local) const noexcept {
    return local <= now() ? world_.now() : truth_of(local);
  }  // not in the past
  void jump(duration d) noexcept { offset_ += d; }

 private:
  duration drift(moment truth) const noexcept { return (truth - beginning) * ppm_ / 1'000'000; }

  const world& world_;
  duration offset_;
  std::int64_t ppm_;
};

class own_ids final : public core::id_source {
 public:
  explicit own_ids(std::uint64_t nonce) : nonce_(nonce) {}
  std::uint64_t nonce() const noexcept override { return nonce_; }
  core::id next() override;

 private:
  std::uint64_t nonce_, count_ = 0;
};

// What all processes share.
struct surroundings {
  world& time;
  server& peer;
  network& wires;
  checker& checks;
  const scenario& terms;
  bug planted;
  bool draining = false;  // no more new acquisitions
};

class process final : private runtime::watcher {
 public:
  process(surroundings& s, std::size_t index, dice d);
  ~process();

  // ---- faults

  void start();
  void close();  // as the destructor of a client does; kill() follows
  void kill();
  void pause();
  void resume();
  void stall(duration d);
  void cut(bool lingers, duration away);
  void jump(duration d);  // of its clock: a planted bug

  // ---- news

  void push(const kit::notice& n);

  // ---- for the workers

  runtime::coordinator& coordinator() { return *life_->coordinator; }
  const own_clock& clock() const { return life_->clock; }
  void later(duration d, task t);  // by a caller's thread
  // Of each name there are two: a writer's and a reader's, or one permit and two.
  std::shared_ptr<const runtime::spec> what(std::size_t name, std::size_t ttl, bool other) const {
    return specs_[(name * ttls.size() + ttl) * 2 + (other ? 1 : 0)];
  }
  void give_back(const worker& by, const runtime::hold_ptr& h, runtime::release_reply told);
  surroundings& around() { return around_; }
  std::size_t index() const noexcept { return index_; }
  void arm();  // the coordinator may have something to do at another time than before

  // ---- for the checks

  bool running() const noexcept { return life_ != nullptr && !paused_; }
  moment running_since() const noexcept { return since_; }
  bool waits_for(std::size_t name) const;
  bool upgrades(std::size_t name) const;
  // It reads, knows of no upgrade, and nothing of an earlier one can be under way.
  bool only_reads(const id& who) const;
  bool idle() const;
  void look();
  std::optional<moment> let_go(const id& who) const;

  std::uint64_t losses = 0, unknowns = 0, not_sents = 0;

 private:
  struct living {
    living(surroundings& s, duration offset, std::int64_t ppm, std::uint64_t nonce)
        : clock(s.time, offset, ppm), ids(nonce) {}
    own_clock clock;
    own_ids ids;
    std::unique_ptr<link> wire;
    std::unique_ptr<runtime::coordinator> coordinator;
    std::array<worker, workers_per_client> workers;
  };
  enum class thread : std::uint8_t { io, caller };
  struct deferred {
    thread by;
    task what;
  };

  // runtime::watcher
  void guard(const runtime::hold_ptr& h) override;
  void tell(const runtime::hold_ptr& h) noexcept override;
  void ask(const runtime::hold_ptr& h) noexcept override;
  void ring(const runtime::hold_ptr& h);
  void ring_later(const runtime::hold_ptr& h);

  void inside(duration d, thread by, task t);
  void enter(thread by, task t);
  void on_timer();

  surroundings& around_;
  const std::size_t index_;
  dice dice_;
  std::unique_ptr<living> life_;
  std::uint64_t lives_ = 0;
  bool paused_ = false;
  bool closing_ = false;
  moment since_;
  moment armed_ = moment::max();
  std::vector<deferred> backlog_;
  std::vector<runtime::hold_ptr> unrung_;  // alarms that came up during a pause
  std::array<std::shared_ptr<const runtime::spec>, names.size() * ttls.size() * 2> specs_;
};

}  // namespace tyer::sim
