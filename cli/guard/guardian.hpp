// Ends the command, and all that came from it, before its lock does: a process of its own, with one thread, that needs
// nobody else for it.
//
//   state    | what goes on                     | becomes
//   ---------+----------------------------------+---------------------------------------------------------------
//   idle     | nothing is there to be guarded   | running: the keeper says start
//   running  | the command runs                 | ending: the lock is about to end, is lost, or the keeper or the
//            |                                  |   front is gone; or the command has ended and left others behind
//   ending   | all have SIGTERM                 | killing: the grace, or what the lock leaves of it, is over
//   killing  | SIGKILL, again and again         |
//   any      |                                  | idle: no descendant is left
//
// It knows until when the lock is valid by what the keeper last said, counted on CLOCK_BOOTTIME; no news is bad news. It is
// a subreaper, so it has no children left exactly when all that came from the command is dead.
//
// In a process group of its own and with all signals blocked, it is stopped by nothing that stops `tyer` or the command from
// a terminal. Cannot be helped: SIGSTOP or SIGKILL at the guardian itself (then the front ends the command), processes in
// uninterruptible sleep, and those that have become another user's.
#pragma once

#include "guard/child.hpp"
#include "guard/family.hpp"
#include "guard/job.hpp"
#include "guard/note.hpp"

#include <tyer/clock.hpp>

#include <chrono>
#include <string>

namespace cli {

class guardian {
 public:
  // `mask` is what the command is to have; `front_group` the process group it joins on a terminal.
  guardian(const job&, line keeper, line front, const sigset_t& mask, pid_t front_group, bool on_terminal);
  guardian(const guardian&) = delete;
  guardian& operator=(const guardian&) = delete;
  ~guardian();

  // Until there is nothing to guard and nobody to guard it for.
  void serve();

 private:
  enum class state { idle, running, ending, killing };
  using time_point = tyer::lease_clock::time_point;

  void wait();
  void hear_keeper();
  void hear_front();
  void on_keeper(const note&, const std::string& text);
  void on_front(const note&);
  void start(const note&, const std::string& environment);
  void pass_on(const note& signal);
  void cancel(int signal);
  void reap();
  void look_at_clock();
  void end_all(ending why);
  void ask_all_to_end();
  void kill_all();
  void finish();

  void say_what_is_out_of_reach(const reached&);
  // As kill(2) takes it. Only while has_group(): later the number may be another's.
  bool has_group() const;
  pid_t whole_child() const { return child_.own_group ? -child_.pid : child_.pid; }
  time_point term_at() const { return valid_until_ - job_.margin - job_.grace; }
  void arm(time_point);

  const job& job_;
  line keeper_, front_;
  sigset_t mask_;
  pid_t front_group_;
  bool on_terminal_;
  int timer_, children_;

  state state_ = state::idle;
  child child_;
  bool child_ended_ = false;
  int status_ = 0;
  ending why_ = ending::by_itself;
  time_point valid_until_{}, kill_at_{};
  std::chrono::milliseconds kill_again_after_{};
  bool said_forbidden_ = false, said_blind_ = false, cancelled_ = false;
};

}  // namespace cli
