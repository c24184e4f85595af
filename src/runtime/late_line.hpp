// Runs callbacks that come after the client's threads have ended: one after the other, on a thread that lives only while
// there is something to run.
//
// The thread is detached, but exit waits for it: a callback that was submitted before exit(), or by a destructor of a
// static object, runs before the process ends, unless it takes longer than `end_waits`.
//
// Thread safety: everything may be called from any thread.
#pragma once

#include "runtime/completion_line.hpp"
#include "runtime/fork.hpp"

#include <chrono>
#include <memory>
#include <mutex>

namespace tyer::runtime {

class late_line final : public std::enable_shared_from_this<late_line> {
 public:
  static constexpr std::chrono::seconds end_waits{1};

  // Throws std::bad_alloc if no thread can be started: then it is not queued.
  void run_soon(std::shared_ptr<completion> c);

  // The process-wide line, for calls without a client.
  static late_line& of_nobody();

 private:
  void serve();

  const birth born_;
  std::mutex mutex_;
  completion_line tasks_;
  bool serves_ = false;
};

}  // namespace tyer::runtime
