// The internals of a client: the engine, the coordinator, and their threads.
//
//   caller's thread ── task ──▶ inbox ──▶ [driver: coordinator + engine]  ── hold ──▶ caller
//                                               │ guard, tell
//                                               ▼
//                                         [watch: deadlines] ──▶ [herald: callbacks]
//
// The driver has exclusive use of the coordinator and the engine: usually the I/O thread, or a caller that waits for an
// answer on an otherwise idle client (which saves two thread switches).
//
// Thread safety: everything may be called from any thread.
#pragma once

#include "core/clock.hpp"
#include "core/function.hpp"
#include "core/id.hpp"
#include "engine/engine.hpp"
#include "runtime/baton.hpp"
#include "runtime/coordinator/coordinator.hpp"
#include "runtime/event_line.hpp"
#include "runtime/fork.hpp"
#include "runtime/latch.hpp"
#include "runtime/late_line.hpp"
#include "runtime/noting.hpp"
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
    std::unique_ptr<engine::engine> engine;  // after the clock and the ids, which it uses until it is destroyed
    limits bounds;
    completion_executor completions;
    log_hook log;
    event_line::hook on_event = {};
    lease::duration slow_wait{};  // as of coordinator::report_to, as is:
    clock_look::reader clocks = {};
    std::shared_ptr<noting> notes = {};
  };

  static std::shared_ptr<client_runtime> open(parts p);
  ~client_runtime();

  // What a caller does once its task is submitted: returns, or calls wait() at once.
  enum class afterwards { returns, waits };

  // True if the caller must wait for others of this client and has nothing to drive: then wait for the latch only.
  bool want(std::shared_ptr<acquisition> w, afterwards next = afterwards::returns);
  void give_back(hold_ptr h, release_reply told, afterwards next = afterwards::returns);  // `told` may be null

  void confirm(hold_ptr h, confirm_reply told, afterwards next = afterwards::returns);
  void convert(std::shared_ptr<change> c, afterwards next = afterwards::returns);
  // For a call that still waits. Never fails: giving up must always be possible.
  void cancel(std::shared_ptr<revocable> r, errc why) noexcept;

  // Queries of an operator, answered as by the coordinator. T as in queries.
  template <class T>
  void ask_engine(query<T> what, engine::reply<T> told, afterwards next = afterwards::returns) {
    submit([what = std::move(what),
            told = std::move(told)](coordinator& c) mutable { c.ask_engine(std::move(what), std::move(told)); },
           next);
  }
  void observe(std::shared_ptr<observer> o);
  void forget(std::shared_ptr<observer> o);

  // Waits for the latch; drives the engine meanwhile if no other thread does.
  void wait(latch& l);
  // Opens the latch at the end of the turn. Only from callbacks of the coordinator. The waiting caller may be the driver.
  void open_soon(std::shared_ptr<latch> l) noexcept {
    if (ended_.load(std::memory_order_acquire)) return l->let_go();  // there are no more turns
    opening_.push(std::move(l));
  }
  // Opens it now, from anywhere.
  void let_go(latch&) noexcept;

  // Runs the function where completions without an executor of their own run, and never inside this call; except in a
  // forked child, which has no other thread to run it.
  void complete(std::function<void()> f);
  void complete(std::shared_ptr<completion> c);

  tyer::failure wait_ready(std::chrono::milliseconds at_most);
  void expect_ready(std::shared_ptr<readiness> h);  // as wait_ready, but asynchronous

  // What the server said when the engine last connected, and when that was. Empty before the first connection.
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

  // All counters; any thread may read them, also after this object is gone.
  const std::shared_ptr<stats::board>& board() const noexcept { return coordinator_->board(); }

  // Null: nothing is noted about the callers.
  const std::shared_ptr<noting>& notes() const noexcept { return parts_.notes; }

  // For tests: callers that have no answer yet.
  std::size_t waiting_for(std::string_view name);

  // For a clock that is moved by hand: does what is due now, and returns when the next thing is due.
  lease::time_point look();

 private:
  using task = core::function<void(coordinator&), 96>;

  explicit client_runtime(parts p);

  enum class waiting { no, yes };
  class drive;
  class handing_over;
  class executor_task;

  void run_on_own_thread(std::shared_ptr<completion> c);
  void report(event&& e) noexcept;
  void end_threads();

  bool join(const std::shared_ptr<acquisition>& w);
  bool hand_off(const hold_ptr& h);
  bool may_go_first(std::unique_lock<coordinator::mutex>& in);
  bool put(task& o);  // false once no driver will take it any more
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

  // engine::events: forwarded to the coordinator, and noted here where needed
  void wake(const core::id& who) override {
    const std::lock_guard in{coordinator_mutex_};
    coordinator_->wake(who);
  }
  void suspect(const core::id& who) override {
    const std::lock_guard in{coordinator_mutex_};
    coordinator_->suspect(who);
  }
  void gone(const core::id& who) override {
    const std::lock_guard in{coordinator_mutex_};
    coordinator_->gone(who);
  }
  void asked(const core::id& who, std::string_view reason) override {
    const std::lock_guard in{coordinator_mutex_};
    coordinator_->asked(who, reason);
  }
  void changed(std::string_view name) override {
    const std::lock_guard in{coordinator_mutex_};
    coordinator_->changed(name);
  }
  void queue_changed(std::string_view name) override {
    const std::lock_guard in{coordinator_mutex_};
    coordinator_->queue_changed(name);
  }
  void up(const engine::server_facts& facts) override;
  void down(const engine::failure& f) override;

  parts parts_;
  const birth born_;
  std::unique_ptr<watch> watch_;
  const std::shared_ptr<late_line> late_ = std::make_shared<late_line>();
  coordinator::mutex coordinator_mutex_;  // the driver has it locked except while it waits for the engine
  std::unique_ptr<coordinator> coordinator_;
  std::shared_ptr<event_line> events_;  // null: nobody wants them

  std::mutex inbox_mutex_;
  std::vector<task> inbox_;
  std::shared_ptr<revocable> called_off_;
  std::vector<task> working_;       // the driver's: swapped with the inbox, so that both keep their capacity
  std::atomic<bool> ended_{false};  // no driver will take from the inbox any more
  std::atomic<bool> asleep_{false};

  baton baton_;
  std::atomic<int> standing_{0};                             // scheduling priority of the I/O thread
  latch_line opening_;                                       // protected by coordinator_mutex_
  std::vector<std::shared_ptr<readiness>> readiness_asked_;  // protected by coordinator_mutex_
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

  std::mutex ending_mutex_;  // of those who end the threads
  std::thread thread_;
};

}  // namespace tyer::runtime
