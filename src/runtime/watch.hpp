// The deadline thread: it notices in time that a hold is over, and does nothing else.
//
// Every live hold is on its list with the time of its alarm. A renewal does not touch the list: when the alarm comes up,
// the thread asks the hold how long it has left. Waits on a timerfd on CLOCK_BOOTTIME, so a machine that was suspended, or
// a process that was stopped, finds the alarm rung when it wakes up. The user's code runs on the herald's threads: this
// thread only supervises the herald.
//
// Thread safety: everything may be called from any thread.
#pragma once

#include "core/clock.hpp"
#include "core/function.hpp"
#include "runtime/coordinator/coordinator.hpp"
#include "runtime/herald.hpp"
#include "runtime/timers.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace tyer::runtime {

class watch final : public watcher {
 public:
  explicit watch(const core::clock& c);
  ~watch();
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

  void guard(const hold_ptr& h) override;
  void tell(const hold_ptr& h) noexcept override;
  void ask(const hold_ptr& h) noexcept override;
  bool run_soon(const std::shared_ptr<completion>& c) noexcept { return herald_.run_soon(c); }

  // For a clock that is moved by hand: checks the time again. Returns when every callback that was due has run, with the
  // time of the next alarm.
  lease::time_point look();

  // Runs the callbacks that are due, and ends. From a callback: when that returns.
  void stop();

 private:
  void serve();
  void wait(bool look_soon) noexcept;
  void signal() noexcept;
  void arm(lease::time_point when);
  void ring_due();

  const core::clock& clock_;
  int timer_ = -1;
  int signal_ = -1;
  std::mutex mutex_;
  std::condition_variable looked_;
  std::uint64_t looks_wanted_ = 0, looks_done_ = 0;
  timers<hold_ptr> alarms_;
  lease::time_point armed_ = lease::time_point::max();
  bool stopping_ = false;
  herald herald_;
  std::thread thread_;
};

}  // namespace tyer::runtime
