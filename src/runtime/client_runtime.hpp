// A client's inside: the engine, the coordinator, and the threads that work for them.
//
//   caller's thread ── task ──▶ inbox ──▶ [driver: coordinator + engine]  ── hold ──▶ caller
//                                               │ guard, tell
//                                               ▼
//                                         [watch: deadlines] ──▶ [herald: callbacks]
//
// The thread that drives has the coordinator and the engine for itself: usually the I/O thread, or a caller that waits for an answer
// while nothing else goes on (no hop to another thread and back).
//
// Thread safety: everything may be called from any thread.
#pragma once

#include "core/clock.hpp"
#include "core/function.hpp"
#include "core/id.hpp"
#include "engine/engine.hpp"
#include "runtime/baton.hpp"
#include "runtime/coordinator/coordinator.hpp"
#include "runtime/fork.hpp"
#include "runtime/latch.hpp"
#include "runtime/late_line.hpp"
#include "runtime/watch.hpp"

#include <tyer/error.hpp>
#include <tyer/options.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tyer::runtime {

class client_runtime final : public std::enable_shared_from_this<client_runtime>, private engine::events {
 public:
  struct parts {
    std::shared_ptr<const core::clock> clock;
    std::unique_ptr<core::id_source> ids;
    std::unique_ptr<engine::engine> engine;  // behind the clock and the ids, which it uses to its end
    limits bounds;
    completion_executor completions;
    log_hook log;
  };

  static std::shared_ptr<client_runtime> open(parts p);
  ~client_runtime();

  // What a caller does once its task is submitted: returns, or calls wait() at once.
  enum class afterwards { returns, waits };

  // True if it has to wait for others of this client, and nothing is left to do for it: then wait for the latch alone.
  bool want(std::shared_ptr<acquisition> w, afterwards next = afterwards::returns);
  void give_back(hold_ptr h, release_reply told, afterwards next = afterwards::returns);  // `told` may be null

  void confirm(hold_ptr h, confirm_reply told, afterwards next = afterwards::returns);
  void convert(std::shared_ptr<change> c, afterwards next = afterwards::returns);
  // Of an acquisition or a change that still waits. Never fails: giving up must always be possible.
  void cancel(std::shared_ptr<revocable> r, errc why) noexcept;

  // For people, and answered like the coordinator's. T as in queries.
  template <class T>
  void ask_engine(query<T> what, engine::reply<T> told, afterwards next = afterwards::returns) {
    submit([what = std::move(what),
            told = std::move(told)](coordinator& c) mutable { c.ask_engine(std::move(what), std::move(told)); },
           next);
  }
  void observe(std::shared_ptr<observer> o);
  void forget(std::shared_ptr<observer> o);

  // Waits for the latch; drives the engine meanwhile if nobody else does.
  void wait(latch& l);
  // Opens it at the end of the turn. Only from callbacks of the coordinator. The one who waits may be the one who drives.
  void open_soon(std::shared_ptr<latch> l) noexcept {
    if (ended_.load(std::memory_order_acquire)) return l->let_go();  // there are no more turns
    opening_.push(std::move(l));
  }
  // Opens it now, from anywhere.
  void let_go(latch&) noexcept;

  // Runs where completions of callers without an executor of their own run, and never inside this call; but in a forked child,
  // where nobody else is left to run it.
  void complete(std::function<void()> f);
  void complete(std::shared_ptr<completion> c);

  tyer::failure wait_ready(std::chrono::milliseconds at_most);
  void expect_ready(std::shared_ptr<readiness> h);  // as wait_ready, with an answer instead of a wait

  // What the engine told when it was last connected, and when that was. Nothing before it was.
  struct told_facts {
    engine::server_facts facts;
    std::chrono::system_clock::time_point when;
  };
  told_facts facts();

  bool close(std::chrono::milliseconds at_most);

  // After fork, in the child: nothing here may be touched.
  bool forked() const noexcept;
  bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

  const core::clock& time() const noexcept { return *parts_.clock; }
  const limits& bounds() const noexcept { return parts_.bounds; }
  engine::capabilities can() const noexcept { return parts_.engine->can(); }

  // All that is counted; to be read by any thread, also when this is gone.
  const std::shared_ptr<stats::board>& board() const noexcept { return coordinator_->board(); }

  // For tests: callers that have no answer yet.
  std::size_t waiting_for(std::string_view name);

  // For a clock that is moved by hand: does what is due now, and tells when the next thing is.
  lease::time_point look();

 private:
  using task = core::function<void(coordinator&), 96>;

  explicit client_runtime(parts p);

  enum class waiting { no, yes };
  class drive;
  class handing_over;
  class slip;

  void run_on_own_thread(std::shared_ptr<completion> c);

  bool join(const std::shared_ptr<acquisition>& w);
  bool hand_off(const hold_ptr& h);
  bool at_the_door(std::unique_lock<coordinator::door>& in);
  bool put(task& o);  // false once nobody will look any more
  void submit(task o, afterwards next);
  void see_to_it(afterwards next);
  void serve();
  void open_engine();
  void close_engine();
  void turn(waiting w, lease::time_point last = lease::time_point::max());
  bool may_drive() const noexcept;
  lease::time_point do_what_is_due(waiting& w);
  lease::time_point answer_readiness() noexcept;
  void run_tasks();
  bool no_more_tasks();
  bool resting();
  bool drained();
  bool somebody_is_answered();
  void open_latches();
  void stand_by();
  bool has_tasks();
  void shut_down();

  // engine::events: the coordinator's, and what the client_runtime itself wants to know
  void wake(const core::id& who) override {
    const std::lock_guard in{door_};
    coordinator_->wake(who);
  }
  void suspect(const core::id& who) override {
    const std::lock_guard in{door_};
    coordinator_->suspect(who);
  }
  void gone(const core::id& who) override {
    const std::lock_guard in{door_};
    coordinator_->gone(who);
  }
  void asked(const core::id& who, std::string_view reason) override {
    const std::lock_guard in{door_};
    coordinator_->asked(who, reason);
  }
  void changed(std::string_view name) override {
    const std::lock_guard in{door_};
    coordinator_->changed(name);
  }
  void queue_changed(std::string_view name) override {
    const std::lock_guard in{door_};
    coordinator_->queue_changed(name);
  }
  void up(const engine::server_facts& facts) override;
  void down(const engine::failure& f) override;

  parts parts_;
  const birth born_;
  std::unique_ptr<watch> watch_;
  const std::shared_ptr<late_line> late_ = std::make_shared<late_line>();
  coordinator::door door_;  // of the coordinator: the driver has it locked except while it waits for the engine
  std::unique_ptr<coordinator> coordinator_;

  std::mutex inbox_mutex_;
  std::vector<task> inbox_;
  std::shared_ptr<revocable> called_off_;
  std::vector<task> working_;       // the driver's: swapped with the inbox, so that both keep their room
  std::atomic<bool> ended_{false};  // no driver will take from the inbox any more
  std::atomic<bool> asleep_{false};

  baton baton_;
  std::atomic<int> standing_{0};                             // of the I/O thread, as the system schedules it
  latch_line opening_;                                       // behind the door
  std::vector<std::shared_ptr<readiness>> readiness_asked_;  // behind the door
  std::atomic<const latch*> driver_waits_for_{nullptr};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> closed_{false};

  std::mutex state_mutex_;
  std::condition_variable state_changed_;
  bool ready_ = false;
  bool drained_ = false;
  bool shut_ = false;
  tyer::failure trouble_;
  told_facts told_;

  std::thread thread_;
};

}  // namespace tyer::runtime
