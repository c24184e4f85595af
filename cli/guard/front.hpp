// The process that the shell has started: it passes signals on, stops when the command stops, and ends with its code.
//
// It owns neither the lock nor the command. So when Ctrl-Z stops it, the keeper keeps renewing; and if it is killed, the
// guardian ends the command and the keeper releases the lock.
#pragma once

#include "guard/job.hpp"
#include "guard/note.hpp"

#include <signal.h>
#include <sys/types.h>

#include <optional>

namespace cli {

class front {
 public:
  front(const job&, line to_guardian, pid_t guardian, pid_t keeper, bool on_terminal);
  front(const front&) = delete;
  front& operator=(const front&) = delete;
  ~front();

  // The keeper's exit code when both other processes are gone; nothing if it had none: then the lock is lost.
  std::optional<int> serve();

  // The signals that it passes on, without those that were ignored when we were started (nohup). Block them before the
  // other processes exist.
  static sigset_t signals();

 private:
  void hear_guardian();
  void take_signals();
  void reap();
  void on_guardian_dead();
  void wait();

  const job& job_;
  line guardian_line_;
  pid_t guardian_, keeper_;
  bool on_terminal_;
  int signals_;
  std::optional<int> code_;
  bool lost_ = false, keeper_stopped_ = false;
};

}  // namespace cli
