// A command that can be seen dying: each of its processes writes the time into a place of its own in a shared file, again and
// again, for as long as it lives.
//
//   loss_witness FILE [--deaf] [--family]
//
// --deaf: ignores SIGTERM and whatever else can be ignored. --family: a child, a child in a session of its own, and a daemon
// that nobody is the parent of.
#include "cli/loss_record.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace {

using namespace std::chrono_literals;

void ignore_what_can_be() {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE}) ::signal(signal, SIG_IGN);
}

[[noreturn]] void live(loss::record& r) {
  loss::life& mine = r.lives[r.count.fetch_add(1)];
  mine.pid = ::getpid();
  for (;;) {
    mine.last = loss::now();
    ::usleep(4000);
  }
}

void have_family(loss::record& r) {
  if (::fork() == 0) live(r);
  if (::fork() == 0) {
    ::setsid();
    live(r);
  }
  if (::fork() == 0) {
    ::setsid();
    if (::fork() == 0) live(r);
    ::_exit(0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  loss::record& r = loss::open_record(argv[1]);
  for (int i = 2; i < argc; ++i) {
    if (argv[i] == std::string_view{"--deaf"}) ignore_what_can_be();
    if (argv[i] == std::string_view{"--family"}) have_family(r);
  }
  live(r);
}
