// All descendants of a process, wherever they are: in other process groups or sessions, and orphans that became its
// children because it is a subreaper.
//
// A process group would be simpler, but is not enough: `setsid` leaves it. A process that another service started for the
// command (docker, systemd-run, at, ssh) is no descendant, and cannot be found.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace cli {

struct relative {
  pid_t pid = 0, parent = 0;
  std::uint64_t born = 0;  // start time: with the pid it identifies a process, since pids are reused
};

// Every descendant of `head`, also zombies: a process whose first thread has ended looks dead, but other threads of it may
// still run.
std::vector<relative> descendants(pid_t head);

struct reached {
  int count = 0;
  pid_t forbidden = 0;  // a process that may not be signalled, because it runs as another user
  bool blind = false;   // /proc cannot be read: no process was found, even if there are some
};

// Whether descendants can be found at all: this needs a readable /proc of our own PID namespace.
bool can_see_descendants();

// Sends the signals to each of them.
reached signal_descendants(pid_t head, std::initializer_list<int> signals);

}  // namespace cli
