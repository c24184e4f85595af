// Ends the command and all its descendants before the lock ends: a separate process with one thread, which depends on no
// other process.
//
//   state    | what goes on                     | becomes
//   ---------+----------------------------------+---------------------------------------------------------------
//   idle     | there is nothing to guard        | running: the keeper sends start
//   running  | the command runs                 | ending: the lock is about to end, is lost, or the keeper or the
//            |                                  |   front is gone; or the command has ended and left others behind
//   ending   | all have got SIGTERM             | killing: the grace, or what the lock leaves of it, is over
//   killing  | SIGKILL, again and again         |
//   any      |                                  | idle: no descendant is left
//
// It knows until when the lock is valid from the keeper's last note, counted on CLOCK_BOOTTIME; without a new note the lock
// ends then. It is a subreaper, so it has no children left exactly when all descendants of the command are dead.
//
// It is in a process group of its own with all signals blocked, so nothing that stops `tyer` or the command from a terminal
// stops it. Its limits: SIGSTOP, or SIGKILL (then the front ends the command), sent to the guardian itself, processes in
// uninterruptible sleep, and processes of another user.
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
  // `mask` is the command's signal mask; `front_group` the process group that it joins on a terminal.
  guardian(const job&, line keeper, line front, const sigset_t& mask, pid_t front_group, bool on_terminal);
  guardian(const guardian&) = delete;
  guardian& operator=(const guardian&) = delete;
  ~guardian();

  // Returns when there is nothing to guard and no keeper or front is left.
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
  // As kill(2) takes it. Only while has_group(): later the number may be reused.
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
