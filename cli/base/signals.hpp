// Waiting that Ctrl-C ends, so that a command can tidy up behind it.
#pragma once

#include "base/exit_code.hpp"

#include <chrono>

namespace cli {

// From here on SIGINT, SIGTERM and SIGHUP end only wait(). Make it before the client, whose threads must not have them.
class signals {
 public:
  signals();
  signals(const signals&) = delete;
  signals& operator=(const signals&) = delete;
  ~signals();

  // Until wake(), a signal, or the end of that time. False: a signal has come, now or before.
  bool wait(std::chrono::milliseconds at_most);

  // From any thread. One that comes before wait() is not lost.
  void wake() noexcept;

  // As a shell calls it: 128 and the number of the signal.
  exit_code code() const noexcept { return passed_on(128 + signal_); }

 private:
  int signals_ = -1, calls_ = -1;  // descriptors
  int signal_ = 0;
};

}  // namespace cli
