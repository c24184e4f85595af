// One of the servers: its engine, and the thread that runs its loop.
//
//   composing engine ── task ──▶ node ──▶ [thread: the node's engine] ── answer, event ──▶ inbox ──▶ composing engine
//
// Thread safety: post() from any thread between start() and stop(); the others from one. Answers and events come through
// the inbox, so they are delivered in the loop of the composing engine.
#pragma once

#include "core/clock.hpp"
#include "core/function.hpp"
#include "engine/engine.hpp"
#include "engine/inbox.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tyer::redlock {

class node final : private engine::events {
 public:
  // Called in the loop of the composing engine.
  class listener {
   public:
    virtual void on_up(std::size_t node, const engine::server_facts&, engine::time_point told) = 0;
    virtual void on_down(std::size_t node, const engine::failure&) = 0;
    virtual void on_suspect(std::size_t node, const engine::id&) = 0;
    virtual void on_asked(std::size_t node, const engine::id&, const std::string& reason) = 0;

   protected:
    ~listener() = default;
  };
  using task = core::function<void(engine::engine&), 96>;

  // How long a close waits for answers that are still to come: a little less than the runtime waits for the close.
  static constexpr std::chrono::milliseconds close_limit{150};

  node(std::size_t index, std::unique_ptr<engine::engine> e, const core::clock& clock)
      : index_(index), engine_(std::move(e)), clock_(clock) {}
  ~node();

  void start(listener& l, std::shared_ptr<engine::inbox> to);
  void post(task o);
  void ask_to_stop() noexcept;  // then stop() or the destructor waits for it, for a bounded time
  void stop();

 private:
  void serve() noexcept;
  void carry_out_orders() noexcept;
  void tell_what_was_missed() noexcept;
  void finish();
  static void rest() noexcept;
  template <class F>
  static bool survives(F what) noexcept;
  template <class F>
  void tell(F f) {
    to_->put([l = listener_, f = std::move(f)](engine::events*) mutable { f(*l); });
  }

  void wake(const engine::id&) override {}  // nobody queues here
  void suspect(const engine::id& who) override;
  void gone(const engine::id& who) override { suspect(who); }  // proves it for one node only
  void asked(const engine::id& who, std::string_view reason) override;
  void changed(std::string_view) override {}
  void up(const engine::server_facts& facts) override;
  void down(const engine::failure& f) override;

  const std::size_t index_;
  const std::unique_ptr<engine::engine> engine_;
  const core::clock& clock_;
  listener* listener_ = nullptr;
  enum { nothing, is_up, is_down } missed_ = nothing;  // the event that could not be sent
  std::shared_ptr<engine::inbox> to_;

  std::mutex mutex_;
  std::vector<task> tasks_, working_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace tyer::redlock
