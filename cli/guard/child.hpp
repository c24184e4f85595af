// The command, as a child of the guardian.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace cli {

struct child {
  pid_t pid = 0;  // 0: there is none
  bool own_group = false;
  int report = -1;  // exec closes its other end; if exec fails, an errno arrives
};

// Starts it with the given signal mask, and `environment` (NAME=value, each ended by NUL) added to ours, without the
// variables of an outer lock. It dies with us.
// Throws std::system_error if fork fails. Does not wait for exec, which may be slow on a network file system.
//
// With a controlling terminal it stays in the front's process group, where Ctrl-C, Ctrl-Z, fg and pipelines work as with
// `env`. Without one it gets a process group of its own, which can be signalled as a whole.
child start_child(const std::vector<std::string>& command, std::string_view environment, const sigset_t& mask,
                  pid_t front_group, bool on_terminal);

// When it has ended: the errno if exec failed, else 0. Closes the report.
int why_not_started(child&);

// As execvp would find it. 0, or why it cannot be started: known before a lock is taken for it.
int cannot_start(const std::string& program);

// 127 if it was not found, 126 if it cannot be executed, as in shells.
int code_of_failure(int failure);
// The exit code, or 128 plus the signal.
int code_of_status(int status);

}  // namespace cli
