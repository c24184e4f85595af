// A client's engine: keeps the promises of the seam (one reply for each call, never inline, within the time-out) over the
// simulated network, and loses the connection when it is told to.
#pragma once

#include "core/clock.hpp"
#include "engine/engine.hpp"
#include "sim/crook.hpp"
#include "sim/network.hpp"

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <variant>

namespace tyer::sim {

namespace seam = tyer::engine;

class link final : public seam::engine {
 public:
  struct setting {
    world& outside;
    network& wires;
    const server& peer;
    std::size_t client;
    const core::clock& clock;
    milliseconds request_timeout;
    bug planted;
    dice chance;
    // A hold was asked back, and the client has heard it.
    std::function<void(const id&)> asked;
    // Runs something inside the client's process, now or later: not while it is paused, never when it is dead.
    std::function<void(duration, task)> inside;
  };
  explicit link(setting s) : at_(std::move(s)), crook_(at_.planted, at_.peer) {}
  ~link() override;

  // ---- faults and news from the server

  void stall(duration d);  // what is sent from now on arrives only then
  void cut(bool lingers, duration away);
  void push(const kit::notice& n);

  // ---- for the checks

  bool connected() const noexcept { return pipe_ != nullptr; }
  moment connected_since() const noexcept { return since_; }
  // The last word of this client on an id was a release, and the server confirmed it. When?
  std::optional<moment> let_go(const id& who) const;

  std::uint64_t unknowns = 0, not_sents = 0;

  // ---- the seam

  seam::capabilities can() const noexcept override;
  void open(seam::events& e) override;
  void acquire(const seam::request& r, seam::reply<seam::answer> then) override;
  void keep(std::span<const seam::target> all, fate as, milliseconds ttl, seam::reply<seam::kept> then) override;
  void release(const seam::target& t, bool clean, seam::reply<fate> then) override;
  void convert(const seam::target& t, seam::mode to, milliseconds not_after, seam::reply<seam::answer> then) override;
  void ask(std::string_view name, std::string_view reason, seam::reply<std::uint32_t> then) override;

 private:
  struct pending {
    id who;       // acquire, release
    moment made;  // in true time
    moment sent;  // on the client's clock
    bool left;    // it went into a pipe
    std::variant<seam::reply<seam::answer>, seam::reply<seam::kept>, seam::reply<fate>, seam::reply<std::uint32_t>>
        then;
  };

  void submit(call_ptr c, pending p);
  void transmit(call_ptr c, pending& p);
  void on_answer(std::uint64_t serial, answers a);
  static void reply(pending p, answers a);
  void fail(std::uint64_t serial, core::why kind);
  void fail_soon(std::uint64_t serial, core::why kind);
  void watch_timeouts();
  void reconnect(duration later);
  void up();

  setting at_;
  crook crook_;
  seam::events* events_ = nullptr;
  pipe_ptr pipe_;
  moment since_;
  std::uint64_t serial_ = 0;
  std::map<std::uint64_t, pending> pending_;  // in the order they were made, so also that of their time-outs
  std::deque<call_ptr> parked_;               // made while the connection was away
  bool timing_ = false;
  std::unordered_map<id, moment, core::id_hash> let_go_;

  // Not used by the runtime that is simulated.
  void lift(const seam::target&, std::uint64_t, seam::reply<fate>) override {}
  void evict(const seam::target&, std::string_view, seam::reply<fate>) override {}
  void show(std::string_view, seam::reply<seam::page>) override {}
  void list(std::string_view, std::string_view, std::uint32_t, seam::reply<seam::page>) override {}
  void watch(std::string_view, bool) override {}
  void diagnose(seam::reply<std::vector<seam::finding>>) override {}
  void close(seam::reply<seam::done>) override {}
  void run(seam::time_point) override {}
  void wake() noexcept override {}
};

}  // namespace tyer::sim
