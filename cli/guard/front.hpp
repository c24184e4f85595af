// The process that the shell knows: it passes signals on, stops when the command stops, and ends with its code.
//
// It has neither the lock nor the command. So Ctrl-Z can stop it, and the keeper goes on renewing; and if it is killed, the
// guardian ends the command and the keeper gives the lock back.
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

  // The keeper's exit code when both others are gone; nothing if it could not say one: then the lock is lost.
  std::optional<int> serve();

  // Those it passes on, but not what was ignored when we were started: nohup means it. To be blocked before there are
  // others to pass them on to.
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
  bool lost_ = false;
};

}  // namespace cli
