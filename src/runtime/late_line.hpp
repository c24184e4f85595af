// Runs the callbacks of those who come when the client's threads have gone: one after the other, on a thread that is there
// only while there is something to run.
//
// Nobody joins that thread, but the end of the process waits for it: what was asked for before exit(), or by a destructor of an
// object of static storage, is run before the process ends, unless it takes longer than `end_waits`.
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

  // Throws std::bad_alloc if there is no room for a thread: then it is not in line.
  void run_soon(std::shared_ptr<completion> c);

  // Of this process, for who has no client at all.
  static late_line& of_nobody();

 private:
  void serve();

  const birth born_;
  std::mutex mutex_;
  completion_line tasks_;
  bool serves_ = false;
};

}  // namespace tyer::runtime
