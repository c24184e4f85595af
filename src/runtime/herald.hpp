// Runs what is not ours: callbacks of lost() and revoked(), and completions. Never on the thread of the deadlines.
//
//   what              | where
//   ------------------+--------------------------------------------------------------------------------------------
//   lost(), revoked() | a thread that does this first of all; when they have waited there for longer than `patience`,
//                     | because somebody's callback is slow, helpers tell them: at most `helpers_max` at once
//   completions       | the same thread, one after the other, when nothing is to be told
//
// So one slow callback, of whatever kind, delays no lost() by more than `patience` and the start of a thread: a fraction of the
// margin by which lost() is told before valid_until(). With more than `helpers_max` slow ones at once the rest have to wait;
// valid() is right all the same. A helper ends when nothing is to be told. To tell needs no memory: holds are linked.
//
// Thread safety: everything may be called from any thread.
#pragma once

#include "runtime/acquisition.hpp"
#include "runtime/completion_line.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>

namespace tyer::runtime {

class herald {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds patience{2};
  static constexpr std::size_t helpers_max = 15;

  enum class news : unsigned char { lost = 1, revoked = 2 };

  herald();
  ~herald();
  herald(const herald&) = delete;
  herald& operator=(const herald&) = delete;

  void tell(const hold_ptr& h, news what) noexcept;
  // While it lives, no callback runs: so that several holds can be ended before the first of their callbacks.
  using hush = std::unique_lock<std::mutex>;
  [[nodiscard]] hush be_quiet() noexcept;
  void tell(const hold_ptr& h, news what, const hush&) noexcept;
  bool run_soon(const std::shared_ptr<completion>& c) noexcept;  // false if it has ended

  // For the thread of the deadlines, to be called every `patience` while somebody waits to be told: starts a helper if
  // somebody has waited for too long. False if nobody waits.
  bool look_after() noexcept;

  // Returns when there is nothing left to tell or to run. From a callback: at once.
  void settle();

  // Tells and runs what there is, and ends. From a callback: as soon as that comes back.
  void stop();

 private:
  class body;
  std::shared_ptr<body> body_;  // its threads': a callback may destroy the herald
  std::thread thread_;
};

}  // namespace tyer::runtime
