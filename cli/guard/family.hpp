// All processes below one, wherever they went: other process groups, other sessions, orphans that came back to it because it
// is a subreaper.
//
// A process group would be simpler, and is not enough: `setsid` leaves it. What another service started on the command's
// behalf (docker, systemd-run, at, ssh) is below nobody here, and cannot be found.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace cli {

struct relative {
  pid_t pid = 0, parent = 0;
  std::uint64_t born = 0;  // with the pid it names a process for ever: pids are used again
};

// Every descendant of `head`, also those that have died and were not reaped: a process whose first thread has ended looks
// dead, and may still be at work in others.
std::vector<relative> descendants(pid_t head);

struct reached {
  int count = 0;
  pid_t forbidden = 0;  // one that may not be signalled, because it runs as somebody else
  bool blind = false;   // /proc does not tell: nobody was found, whoever may be there
};

// Whether descendants can be found at all: only /proc tells who they are, and only if it is that of our PID namespace.
bool can_see_descendants();

// Sends the signals to each of them.
reached signal_descendants(pid_t head, std::initializer_list<int> signals);

}  // namespace cli
