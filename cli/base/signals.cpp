#include "base/signals.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <system_error>

namespace cli {

namespace {

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, s);
  return set;
}

}  // namespace

signals::signals() {
  const auto set = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  calls_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (signals_ < 0 || calls_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

signals::~signals() {
  ::close(signals_);
  ::close(calls_);
}

bool signals::wait(std::chrono::milliseconds at_most) {
  if (signal_ != 0) return false;
  pollfd fds[] = {{signals_, POLLIN, 0}, {calls_, POLLIN, 0}};
  const auto ms = std::clamp<std::int64_t>(at_most.count(), 0, 1'000'000'000);
  if (::poll(fds, 2, static_cast<int>(ms)) <= 0) return true;
  std::uint64_t calls;
  static_cast<void>(::read(calls_, &calls, sizeof calls));
  signalfd_siginfo info;
  if (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    signal_ = static_cast<int>(info.ssi_signo);
  return signal_ == 0;
}

void signals::wake() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(calls_, &one, sizeof one));
}

}  // namespace cli
