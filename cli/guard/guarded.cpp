#include "guard/guarded.hpp"

#include "base/trouble.hpp"
#include "guard/front.hpp"
#include "guard/guardian.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace cli {

namespace {

bool has_terminal() {
  const int fd = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return false;
  ::close(fd);
  return true;
}

// The parent may have closed descriptors 0 to 2; a line must not get the number of stderr.
void fill_standard_descriptors() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

void block_all() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
}

// True in the child. It is in a process group of its own with all signals blocked, also those that stop a background
// process that writes to the terminal.
bool fork_off(pid_t& pid, const char* name) {
  std::fflush(nullptr);  // or the child would write the buffers again
  pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid > 0) return false;
  ::setpgid(0, 0);
  block_all();
  ::prctl(PR_SET_NAME, name);
  return true;
}

}  // namespace

exit_code run_guarded(const job& j, const std::function<exit_code(line)>& keep) {
  fill_standard_descriptors();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // for descendants of a guardian that was killed
  const sigset_t ours = front::signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &ours, &before);
  const bool on_terminal = has_terminal();
  const pid_t group = ::getpgrp();

  auto [front_end, guardian_to_front] = connect_lines();
  auto [keeper_end, guardian_to_keeper] = connect_lines();
  pid_t guardian_pid = 0, keeper_pid = 0;
  if (fork_off(guardian_pid, "tyer-guardian")) {
    front_end.hang_up();
    keeper_end.hang_up();
    ::mlockall(MCL_CURRENT);  // if it is allowed
    guardian{j, std::move(guardian_to_keeper), std::move(guardian_to_front), before, group, on_terminal}.serve();
    ::_exit(0);
  }
  guardian_to_front.hang_up();
  guardian_to_keeper.hang_up();
  if (fork_off(keeper_pid, "tyer-keeper")) {
    front_end.hang_up();
    return keep(std::move(keeper_end));
  }
  keeper_end.hang_up();
  const auto code = front{j, std::move(front_end), guardian_pid, keeper_pid, on_terminal}.serve();
  if (code) return passed_on(*code);
  throw trouble(exit_code::lost,
                "lost '" + j.lock + "': tyer itself was stopped or killed; the command, if it ran, has been ended",
                "The lock is free again when its ttl is over.");
}

}  // namespace cli
