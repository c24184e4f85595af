// Runs the user's code: callbacks of lost() and revoked(), and completions. Never on the watch's thread.
//
//   what              | where
//   ------------------+--------------------------------------------------------------------------------------------
//   lost(), revoked() | a thread that runs these first; when they have waited there for longer than `patience`,
//                     | because a callback is slow, helper threads run them: at most `helpers_max` at once
//   completions       | the same thread, one after the other, when no such callback waits
//
// So one slow callback, of any kind, delays a lost() by at most `patience` and the start of a thread: a fraction of the
// margin by which lost() comes before valid_until(). With more than `helpers_max` slow callbacks at once the rest have to
// wait; valid() is still right. A helper ends when no callback waits. Queueing a hold allocates nothing: holds are linked.
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

  // For the watch, which calls it every `patience` while callbacks wait: starts a helper if one has waited for too long.
  // False if none waits.
  bool look_after() noexcept;

  // Returns when nothing is left to run. From a callback: at once.
  void settle();

  // Runs what is queued, and ends. From a callback: as soon as that returns.
  void stop();

 private:
  class body;
  std::shared_ptr<body> body_;  // shared with its threads: a callback may destroy the herald
  std::thread thread_;
};

}  // namespace tyer::runtime
