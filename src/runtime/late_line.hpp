// Runs the callbacks of those who come when the client's threads have gone: one after the other, on a thread that is there
// only while there is something to run.
//
// Thread safety: everything may be called from any thread.
#pragma once

#include "runtime/completion_line.hpp"

#include <memory>
#include <mutex>

namespace tyer::runtime {

class late_line final : public std::enable_shared_from_this<late_line> {
 public:
  // Throws std::bad_alloc if there is no room for a thread: then it is not in line.
  void run_soon(std::shared_ptr<completion> c);

  // Of this process, for who has no client at all.
  static late_line& of_nobody();

 private:
  void serve();

  std::mutex mutex_;
  completion_line tasks_;
  bool serves_ = false;
};

}  // namespace tyer::runtime
