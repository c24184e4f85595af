#include "base/signals.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>

namespace cli {

namespace {

constexpr std::array ending{SIGINT, SIGTERM, SIGHUP};

// A global, for the signal handler.
int bell = -1;
std::atomic<int> signal_that_came{0};

void ring() noexcept {
  const std::uint64_t one = 1;
  const int before = errno;
  static_cast<void>(!::write(bell, &one, sizeof one));
  errno = before;
}

extern "C" void on_ending_signal(int number) {
  signal_that_came.store(number, std::memory_order_relaxed);
  ring();
}

}  // namespace

signals::signals() {
  bell = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (bell < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  signal_that_came = 0;
  struct sigaction action{};
  action.sa_handler = on_ending_signal;
  action.sa_flags = SA_RESTART;
  for (const int s : ending) {
    struct sigaction before{};
    if (::sigaction(s, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;  // nohup
    ::sigaction(s, &action, nullptr);
  }
}

signals::~signals() {
  for (const int s : ending) {
    struct sigaction now{};
    if (::sigaction(s, nullptr, &now) == 0 && now.sa_handler == on_ending_signal) std::signal(s, SIG_DFL);
  }
  ::close(bell);
  bell = -1;
}

bool signals::wait(std::chrono::milliseconds at_most) {
  if (signal_that_came != 0) return false;
  pollfd fd{bell, POLLIN, 0};
  const auto ms = std::clamp<std::int64_t>(at_most.count(), 0, 1'000'000'000);
  ::poll(&fd, 1, static_cast<int>(ms));
  std::uint64_t calls;
  static_cast<void>(!::read(bell, &calls, sizeof calls));
  return signal_that_came == 0;
}

bool signals::rung() const noexcept { return signal_that_came != 0; }

void signals::wake() noexcept { ring(); }

exit_code signals::code() const noexcept { return passed_on(128 + signal_that_came); }

}  // namespace cli
