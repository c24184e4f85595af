// Time for tests: it stands still until it is moved by hand, or until everybody waits for it.
//
// Everybody are the threads that have called the engine or made a blocking call on one of its clients, and live. Each is
// awake, asleep in a call, or asleep somewhere else, as in a join: that cannot be told from a thread that is about to go on,
// except by its sleeping for long, without being woken once.
//
// Thread safety: everything may be called from any thread.
#pragma once

#include "core/clock.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <vector>

namespace tyer {
inline namespace v1 {
namespace testing {

class hand_clock final : public core::clock, public std::enable_shared_from_this<hand_clock> {
 public:
  using time_point = lease_clock::time_point;

  time_point now() const noexcept override {
    return time_point{lease_clock::duration{now_.load(std::memory_order_acquire)}};
  }
  bool flows() const noexcept override { return false; }
  std::shared_ptr<call> begin_call() const override;
  void due(time_point) const override;
  std::chrono::milliseconds really(std::chrono::milliseconds at_most) const noexcept override;

  // Whoever sleeps until then at the longest is awake when this returns.
  void set(time_point t) noexcept;
  // Only if everybody sleeps, and nobody was awake since changes() gave `since`: who was may have asked for more.
  bool set_if_all_slept(time_point t, std::uint64_t since);
  void set_stalled(bool s) noexcept { stalled_.store(s, std::memory_order_release); }
  time_point next_due() const;

  void know_this_thread() const;
  std::uint64_t changes() const;  // how often somebody fell asleep in a call, or was woken there
  // False when there is no more to wait for.
  bool wait_until_all_sleep(const std::stop_token& over) const;
  // For one who found that nothing is due: somebody else has to do something.
  void wait_for_a_change(const std::stop_token& over) const;

 private:
  class pending;
  struct thread;  // of the process
  struct known {
    std::weak_ptr<thread> who;  // gone with its thread
    int tid = 0;
    int calls = 0;  // it sleeps in
    // When it was seen asleep elsewhere for the first time, and how often it had been to sleep until then.
    std::chrono::steady_clock::time_point since = {};
    std::uint64_t sleeps = 0;
  };

  void set_locked(time_point t) noexcept;
  bool all_sleep_locked() const;  // at least one of them in a call
  static bool sleeps_elsewhere(known&);

  // Not at zero: what is "long ago" must be possible.
  std::atomic<std::int64_t> now_{std::chrono::nanoseconds{std::chrono::hours{24}}.count()};
  std::atomic<bool> stalled_{false};  // the store is paused: nobody will be answered by waiting
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable std::vector<known> threads_;
  mutable std::uint64_t changes_ = 0;
  mutable std::set<time_point> dues_;
  mutable std::list<pending*> limited_;  // calls that sleep until a time at the longest
};

}  // namespace testing
}  // namespace v1
}  // namespace tyer
