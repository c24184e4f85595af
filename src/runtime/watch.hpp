// The thread that tells lost() in time, and runs what must not hold up the engine.
//
// Every live hold is on its list with the time of its alarm. A renewal does not touch the list: when the alarm comes up,
// the hold itself says how long it has left. Waits on a timerfd on CLOCK_BOOTTIME, so a machine that was suspended, or a
// process that was stopped, finds the alarm rung when it wakes up.
//
// Thread safety: everything may be called from any thread.
#pragma once

#include "core/clock.hpp"
#include "core/function.hpp"
#include "runtime/desk.hpp"
#include "runtime/timers.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace tyer::runtime {

class watch final : public watcher {
 public:
  explicit watch(const core::clock& c);
  ~watch();
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

  void guard(const hold_ptr& h) override;
  void tell(const hold_ptr& h) override;
  void ask(const hold_ptr& h) override;
  bool run_soon(core::function<void()> task);  // false if there is no thread any more

  // For a clock that is moved by hand: look at the time again. Returns when everything due was told, with the time of the
  // next alarm.
  lease::time_point look();

  // Tells what is to be told, and ends the thread. From the thread itself: as soon as it comes back.
  void stop();

 private:
  void serve();
  void wait();
  void arm(lease::time_point when);
  void ring_due(std::unique_lock<std::mutex>& lock, const bool& abandoned);

  const core::clock& clock_;
  int timer_ = -1;
  int signal_ = -1;
  std::mutex mutex_;
  std::condition_variable looked_;
  std::uint64_t looks_wanted_ = 0, looks_done_ = 0;
  timers<hold_ptr> alarms_;
  lease::time_point armed_ = lease::time_point::max();
  std::vector<core::function<void()>> tasks_;
  bool stopping_ = false;
  bool ended_ = false;         // the thread has looked at the tasks for the last time
  bool* abandoned_ = nullptr;  // the thread's own: set when the watch is destroyed from inside a callback
  std::thread thread_;
};

}  // namespace tyer::runtime
