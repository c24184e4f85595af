// A wait that Ctrl-C ends, so that a command can clean up.
#pragma once

#include "base/exit_code.hpp"

#include <chrono>

namespace cli {

// While it lives SIGINT, SIGTERM and SIGHUP end wait() and nothing else. One at a time.
class signals {
 public:
  signals();
  signals(const signals&) = delete;
  signals& operator=(const signals&) = delete;
  ~signals();

  // Waits until wake(), a signal, or the end of that time. False: a signal has come, now or before.
  bool wait(std::chrono::milliseconds at_most);

  // Whether one has come.
  bool rung() const noexcept;

  // From any thread. A call before wait() is not lost.
  void wake() noexcept;

  // As in a shell: 128 plus the number of the signal.
  exit_code code() const noexcept;
};

}  // namespace cli
