#include "engines/postgres/poll_box.hpp"

#include <tyer/error.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace tyer::postgres {

poll_box::poll_box() : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (bell_ >= 0) return;
  throw tyer::error(
      {std::error_code{errno, std::generic_category()}, "there is no file descriptor for the engine's own wake-ups"});
}

poll_box::~poll_box() { ::close(bell_); }

void poll_box::ring() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto n = ::write(bell_, &one, sizeof one);  // full: it rings already
}

void poll_box::watch(int socket, bool write, std::function<void()> ready) {
  socket_ = socket;
  write_ = write;
  ready_ = std::move(ready);
}

std::vector<engine::delivery> poll_box::take(deadline until) {
  using namespace std::chrono;
  if (before_) before_();
  std::array<pollfd, 2> both{pollfd{bell_, POLLIN, 0},
                             pollfd{socket_, static_cast<short>(write_ ? POLLIN | POLLOUT : POLLIN), 0}};
  timespec wait{};
  if (until) {
    const auto left = std::max(nanoseconds{0}, duration_cast<nanoseconds>(*until - steady_clock::now()));
    wait = {static_cast<time_t>(left.count() / 1'000'000'000), static_cast<long>(left.count() % 1'000'000'000)};
  }
  const bool some = ::ppoll(both.data(), socket_ < 0 ? 1 : 2, until ? &wait : nullptr, nullptr) > 0;
  if (some && both[0].revents != 0) {
    std::uint64_t rung = 0;
    [[maybe_unused]] const auto n = ::read(bell_, &rung, sizeof rung);
  }
  auto all = inbox::take(steady_clock::time_point{});
  if (some && socket_ >= 0 && both[1].revents != 0) {
    all.emplace_back([ready = ready_](engine::events*) { ready(); });
  }
  return all;
}

}  // namespace tyer::postgres
