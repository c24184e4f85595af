#include "guard/ward.hpp"

#include "guard/front.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

namespace cli {

namespace {

using namespace std::chrono_literals;

constexpr int code_without_guardian = 1;  // the front does not look at it

std::int64_t in_nanoseconds(tyer::lease_clock::time_point t) { return t.time_since_epoch().count(); }

void add(std::string& all, std::string_view name, const std::string& value) {
  all.append(name).append("=").append(value).push_back('\0');
}

std::string environment_of(const tyer::hold& h, const std::string& inside) {
  std::string all;
  if (!inside.empty()) add(all, "TYER_INSIDE", inside);
  add(all, "TYER_LOCK", std::string{h.name()});
  add(all, "TYER_HOLD", h.id().text());
  try {
    add(all, "TYER_TOKEN", std::to_string(h.token()));
  } catch (const tyer::error&) {  // Redisson locks have no token
  }
  if (h.slot_numbers().empty()) return all;
  std::string slots;
  for (const auto slot : h.slot_numbers()) slots += (slots.empty() ? "" : ",") + std::to_string(slot);
  add(all, "TYER_SLOT", std::to_string(h.slot_numbers().front()));
  add(all, "TYER_SLOTS", slots);
  return all;
}

int opened_signals() {
  const sigset_t set = front::signals();
  const int fd = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
  return fd;
}

}  // namespace

ward::ward(line to_guardian)
    : line_(std::move(to_guardian)),
      signals_(opened_signals()),
      listener_([this](const std::stop_token& stop) { listen(stop); }) {}

ward::~ward() {
  listener_.request_stop();
  ::shutdown(line_.fd(), SHUT_RDWR);  // wakes the listener, and tells the guardian
  listener_.join();
  ::close(signals_);
}

ward::result ward::run(const tyer::hold& h, std::chrono::milliseconds ttl,
                       std::optional<tyer::lease_clock::time_point> start_by, const std::string& inside) {
  {
    const std::lock_guard lock{mutex_};
    ended_.reset();
  }
  auto known = h.valid_until();
  line_.send({.what = word::start, .when = in_nanoseconds(known), .by = start_by ? in_nanoseconds(*start_by) : 0},
             environment_of(h, inside));
  // Made after the start: for a hold that is lost already it is called now.
  const std::stop_callback lost{h.lost(), [this] { line_.send({.what = word::stop}); }};
  const std::stop_callback asked{h.revoked(), [this] { line_.send({.what = word::ask}); }};

  // There is no callback for a renewal, so the deadline is polled.
  const auto look_every = std::clamp<std::chrono::milliseconds>(ttl / 40, 10ms, 250ms);
  std::unique_lock lock{mutex_};
  while (!changed_.wait_for(lock, look_every, [this] { return ended_.has_value(); })) {
    if (const auto until = h.valid_until(); until > known && h.valid()) {
      known = until;
      line_.send({.what = word::valid_until, .when = in_nanoseconds(until)});
    }
  }
  return *ended_;
}

void ward::listen(const std::stop_token& stop) {
  std::array<pollfd, 2> fds{{{line_.fd(), POLLIN, 0}, {signals_, POLLIN, 0}}};
  for (;;) {
    ::poll(fds.data(), fds.size(), -1);
    if (stop.stop_requested()) return;
    pass_signals_on();
    note n;
    const auto got = line_.receive(n);
    if (got == line::state::told) hear(n);
    // The guardian is gone, and we cannot know when the command is dead: so the lock is not released.
    if (got == line::state::ended) ::_exit(code_without_guardian);
  }
}

void ward::pass_signals_on() {
  signalfd_siginfo s;
  while (::read(signals_, &s, sizeof s) == sizeof s) {
    if (s.ssi_signo == SIGCHLD || s.ssi_signo == SIGCONT) continue;
    line_.send({.what = word::signal, .number = static_cast<int>(s.ssi_signo)});
  }
}

void ward::hear(const note& n) {
  if (n.what == word::cancel) {
    int none = 0;
    signal_.compare_exchange_strong(none, n.number);
    cancel_.request_stop();
  } else if (n.what == word::ended) {
    const std::lock_guard lock{mutex_};
    ended_ = {static_cast<ending>(n.by), n.number};
    changed_.notify_all();
  }
}

}  // namespace cli
