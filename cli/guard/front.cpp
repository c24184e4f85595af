#include "guard/front.hpp"

#include "guard/family.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace cli {

namespace {

constexpr int passed_on[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

bool ignored(int signal) {
  struct sigaction now{};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

sigset_t front::signals() {
  sigset_t all;
  ::sigemptyset(&all);
  ::sigaddset(&all, SIGCHLD);
  ::sigaddset(&all, SIGCONT);
  for (const int signal : passed_on) {
    if (!ignored(signal)) ::sigaddset(&all, signal);
  }
  return all;
}

front::front(const job& j, line to_guardian, pid_t guardian, pid_t keeper, bool on_terminal)
    : job_(j), guardian_line_(std::move(to_guardian)), guardian_(guardian), keeper_(keeper), on_terminal_(on_terminal) {
  const sigset_t set = signals();
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

front::~front() { ::close(signals_); }

std::optional<int> front::serve() {
  while (guardian_ != 0 || keeper_ != 0) {
    wait();
    hear_guardian();
    take_signals();
    reap();
    // The keeper has nothing left to keep, and is stopped: it will not end by itself.
    if (lost_ && keeper_stopped_ && !job_.again && keeper_ != 0) ::kill(keeper_, SIGKILL);
  }
  return code_;
}

void front::wait() {
  std::array<pollfd, 2> fds{{{signals_, POLLIN, 0}, {guardian_line_.fd(), POLLIN, 0}}};
  ::poll(fds.data(), fds.size(), -1);
}

void front::hear_guardian() {
  note n;
  while (guardian_line_.open()) {
    switch (guardian_line_.receive(n)) {
      case line::state::nothing_yet: return;
      case line::state::ended: guardian_line_.hang_up(); return;
      case line::state::told: break;
    }
    if (n.what == word::lost) lost_ = true;
    // If it is in our own group, the terminal has stopped us together with it.
    if (n.what == word::paused && on_terminal_) ::raise(SIGSTOP);
  }
}

void front::take_signals() {
  signalfd_siginfo s;
  while (::read(signals_, &s, sizeof s) == sizeof s) {
    const int signal = static_cast<int>(s.ssi_signo);
    if (signal == SIGCHLD) continue;
    if (signal == SIGCONT) {
      guardian_line_.send({.what = word::resume});
    } else {
      guardian_line_.send({.what = word::signal, .number = signal, .by = s.ssi_code == SI_KERNEL ? 1 : 0});
    }
  }
}

void front::reap() {
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
    if (pid <= 0) return;
    if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
      if (pid == keeper_) keeper_stopped_ = WIFSTOPPED(status);
    } else if (pid == keeper_) {
      keeper_ = 0;
      if (WIFEXITED(status)) code_ = WEXITSTATUS(status);
    } else if (pid == guardian_) {
      guardian_ = 0;
      if (!WIFEXITED(status)) on_guardian_dead();
    }
  }
}

// Its descendants are our children now, since we are the next subreaper. The keeper is killed with them: the lock ends with
// its ttl.
void front::on_guardian_dead() {
  for (;;) {
    signal_descendants(::getpid(), {SIGKILL});
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, nullptr, WNOHANG)) > 0) {}
    if (pid < 0) break;
    ::poll(nullptr, 0, 5);
  }
  keeper_ = 0;
  code_.reset();
}

}  // namespace cli
