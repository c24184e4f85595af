// A clock for tests: it stands still until it is moved by hand, or until all threads wait for it.
//
// "All threads" are the live threads that have called the engine or made a blocking call on one of its clients. Each is
// awake, asleep in a call, or asleep elsewhere, as in join(). The last cannot be distinguished from a thread that is about
// to continue, except that it sleeps for long without being woken once.
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

  // All threads whose limit is not after t are awake when this returns.
  void set(time_point t) noexcept;
  // Only if all threads sleep, and none was awake since changes() returned `since`: a thread that was may have sent another
  // request.
  bool set_if_all_slept(time_point t, std::uint64_t since);
  void set_stalled(bool s) noexcept { stalled_.store(s, std::memory_order_release); }
  time_point next_due() const;

  void know_this_thread() const;
  std::uint64_t changes() const;  // how often a thread fell asleep in a call, or was woken there
  // False when there is no more to wait for.
  bool wait_until_all_sleep(const std::stop_token& over) const;
  // For the mover of time when nothing is due: another thread has to act first.
  void wait_for_a_change(const std::stop_token& over) const;

 private:
  class pending;
  struct thread;  // of the process
  struct known {
    std::weak_ptr<thread> who;  // gone with its thread
    int tid = 0;
    int calls = 0;  // in which it sleeps
    // When it was first seen asleep elsewhere, and how often it had gone to sleep until then.
    std::chrono::steady_clock::time_point since = {};
    std::uint64_t sleeps = 0;
  };

  void set_locked(time_point t) noexcept;
  bool all_sleep_locked() const;  // at least one of them in a call
  static bool sleeps_elsewhere(known&);

  // Not zero: times in the past must be representable.
  std::atomic<std::int64_t> now_{std::chrono::nanoseconds{std::chrono::hours{24}}.count()};
  std::atomic<bool> stalled_{false};  // the store is paused: it answers nobody
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable std::vector<known> threads_;
  mutable std::uint64_t changes_ = 0;
  mutable std::set<time_point> dues_;
  mutable std::list<pending*> limited_;  // calls that sleep with a limit
};

}  // namespace testing
}  // namespace v1
}  // namespace tyer
