#include "guard/guardian.hpp"

#include "guard/family.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace cli {

namespace {

using namespace std::chrono_literals;

// A process may fork between the check and the signal. One that does not die at all sleeps in the kernel.
constexpr std::chrono::milliseconds kill_again_after_min = 4ms, kill_again_after_max = 500ms;

int opened(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return fd;
}

int deaths_of_children() {
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, SIGCHLD);
  return opened(::signalfd(-1, &only, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
}

tyer::lease_clock::time_point at(std::int64_t nanoseconds) {
  return tyer::lease_clock::time_point{tyer::lease_clock::duration{nanoseconds}};
}

note ended(ending how, int number) {
  return {.what = word::ended, .number = number, .by = static_cast<std::int64_t>(how)};
}

}  // namespace

guardian::guardian(const job& j, line keeper, line front, const sigset_t& mask, pid_t front_group, bool on_terminal)
    : job_(j),
      keeper_(std::move(keeper)),
      front_(std::move(front)),
      mask_(mask),
      front_group_(front_group),
      on_terminal_(on_terminal),
      timer_(opened(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create")),
      children_(deaths_of_children()) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

guardian::~guardian() {
  ::close(timer_);
  ::close(children_);
}

void guardian::serve() {
  while (state_ != state::idle || keeper_.open()) {
    wait();
    // Notes that arrived while we slept, or were not scheduled, are read before the clock: a deadline that the engine has
    // confirmed counts, however late it is read.
    hear_keeper();
    look_at_clock();
    hear_front();
    reap();
  }
}

void guardian::wait() {
  std::array<pollfd, 4> fds{
      {{timer_, POLLIN, 0}, {children_, POLLIN, 0}, {keeper_.fd(), POLLIN, 0}, {front_.fd(), POLLIN, 0}}};
  ::poll(fds.data(), fds.size(), -1);  // a closed line has the descriptor -1, which poll skips
  std::uint64_t rung = 0;
  [[maybe_unused]] ssize_t n = ::read(timer_, &rung, sizeof rung);
  signalfd_siginfo who;
  while (::read(children_, &who, sizeof who) > 0) {}
}

void guardian::hear_keeper() {
  note n;
  std::string text;
  while (keeper_.open()) {
    const auto got = keeper_.receive(n, &text);
    if (got == line::state::nothing_yet) return;
    if (got == line::state::told) {
      on_keeper(n, text);
      continue;
    }
    keeper_.hang_up();
    if (state_ == state::running) end_all(ending::stopped);
  }
}

void guardian::on_keeper(const note& n, const std::string& text) {
  switch (n.what) {
    case word::start: return start(n, text);
    case word::signal: return pass_on(n);
    case word::valid_until:
      valid_until_ = std::max(valid_until_, at(n.when));
      if (state_ == state::running) arm(term_at());
      return;
    case word::stop:
      if (state_ == state::running) end_all(ending::stopped);
      return;
    case word::ask:
      if (state_ == state::running) ask_all_to_end();
      return;
    default: return;
  }
}

void guardian::hear_front() {
  note n;
  while (front_.open()) {
    const auto got = front_.receive(n);
    if (got == line::state::nothing_yet) return;
    if (got == line::state::told) {
      on_front(n);
      continue;
    }
    front_.hang_up();
    // The front is gone: nobody would learn the result.
    if (state_ == state::running) end_all(ending::by_itself);
    cancel(SIGHUP);
  }
}

void guardian::on_front(const note& n) {
  if (n.what == word::signal) return pass_on(n);
  if (n.what != word::resume || child_.pid == 0 || child_ended_) return;
  // If it is in the front's group, it continues together with the front.
  if (const pid_t group = ::getpgid(child_.pid); group > 0 && group != front_group_) ::kill(-group, SIGCONT);
}

void guardian::start(const note& n, const std::string& environment) {
  valid_until_ = at(n.when);
  said_forbidden_ = said_blind_ = false;
  const auto now = tyer::lease_clock::now();
  const bool late = now >= term_at() || (n.by != 0 && now > at(n.by));
  if (late || cancelled_) {
    keeper_.send(ended(ending::too_late, 0));
    return;
  }
  try {
    child_ = start_child(job_.command, environment, mask_, front_group_, on_terminal_);
  } catch (const std::system_error& e) {
    keeper_.send(ended(ending::not_started, e.code().value()));
    return;
  }
  child_ended_ = false;
  why_ = ending::by_itself;
  state_ = state::running;
  arm(term_at());
}

// If the command is in the front's group, a signal from the terminal has reached it already.
void guardian::pass_on(const note& n) {
  if (state_ == state::idle) {
    cancel(n.number);
  } else if (child_.own_group && !child_ended_) {
    ::kill(whole_child(), n.number);
  } else if (n.by == 0) {
    signal_descendants(::getpid(), {n.number});
  }
}

// If the keeper sends start at this moment, it comes too late.
void guardian::cancel(int signal) {
  cancelled_ = true;
  keeper_.send({.what = word::cancel, .number = signal});
}

void guardian::reap() {
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (pid == 0 || (pid < 0 && errno == EINTR)) break;
    if (pid < 0) return finish();  // ECHILD: no descendant is left
    if (pid != child_.pid) continue;
    if (WIFSTOPPED(status)) {
      if (on_terminal_ && ::getpgid(pid) != front_group_) front_.send({.what = word::paused});
      continue;
    }
    child_ended_ = true;
    status_ = status;
  }
  if (!child_ended_ || state_ != state::running) return;
  if (job_.leave) return finish();
  end_all(ending::by_itself);  // ends what the command has left behind
}

void guardian::look_at_clock() {
  const auto now = tyer::lease_clock::now();
  if (state_ == state::running && now >= term_at()) end_all(ending::stopped);
  if (state_ == state::ending && now >= kill_at_) state_ = state::killing;
  if (state_ == state::killing) kill_all();
}

void guardian::end_all(ending why) {
  why_ = why;
  state_ = state::ending;
  kill_again_after_ = kill_again_after_min;
  kill_at_ = std::min(tyer::lease_clock::now() + job_.grace, valid_until_ - job_.margin);
  arm(kill_at_);
  ask_all_to_end();
}

void guardian::ask_all_to_end() {
  const auto all = signal_descendants(::getpid(), {SIGTERM, SIGCONT});  // SIGCONT: or a stopped one would not get it
  if (all.count == 0 && has_group()) ::kill(whole_child(), SIGTERM);
  say_what_is_out_of_reach(all);
}

void guardian::kill_all() {
  if (has_group()) ::kill(whole_child(), SIGKILL);
  say_what_is_out_of_reach(signal_descendants(::getpid(), {SIGKILL}));
  arm(tyer::lease_clock::now() + kill_again_after_);
  kill_again_after_ = std::min(2 * kill_again_after_, kill_again_after_max);
}

// Whether the command's own process group still exists: the command or what it left there. Those processes are our
// descendants; if there are none, the group's number may have been reused.
bool guardian::has_group() const {
  if (!child_ended_) return true;
  siginfo_t nobody{};
  return child_.own_group && ::waitid(P_PGID, static_cast<id_t>(child_.pid), &nobody, WEXITED | WNOHANG | WNOWAIT) == 0;
}

void guardian::finish() {
  if (state_ == state::idle) return;
  state_ = state::idle;
  arm(time_point::max());
  const int failure = why_not_started(child_);
  child_ = {};
  keeper_.send(failure != 0 ? ended(ending::not_started, failure) : ended(why_, status_));
  if (why_ == ending::stopped) front_.send({.what = word::lost});
}

void guardian::say_what_is_out_of_reach(const reached& all) {
  if (all.forbidden != 0 && !std::exchange(said_forbidden_, true)) {
    ::dprintf(
        STDERR_FILENO,
        "tyer: process %d runs as another user and cannot be stopped when the lock %s ends; run tyer as that user\n",
        static_cast<int>(all.forbidden), job_.lock.c_str());
  }
  if (all.blind && !job_.blind && !std::exchange(said_blind_, true)) {
    ::dprintf(STDERR_FILENO,
              "tyer: /proc cannot be read any more: processes that have left the command's process group cannot be "
              "found, and may live on when the lock %s ends\n",
              job_.lock.c_str());
  }
}

void guardian::arm(time_point when) {
  itimerspec spec{};
  if (when != time_point::max()) {
    const auto since = std::max<tyer::lease_clock::duration>(when.time_since_epoch(), 1ns);
    spec.it_value.tv_sec = static_cast<time_t>(since / 1s);
    spec.it_value.tv_nsec = static_cast<long>((since % 1s).count());
  }
  ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &spec, nullptr);
}

}  // namespace cli
