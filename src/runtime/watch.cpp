#include "runtime/watch.hpp"

#include "runtime/hold_state.hpp"
#include "runtime/own_thread.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <system_error>
#include <utility>

namespace tyer::runtime {

namespace {

using phase = detail::hold_state::phase;

lease::time_point alarm_of(const detail::hold_state& h) { return h.alarm_at(); }

int opened(int descriptor, const char* what) {
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), what);
  return descriptor;
}

}  // namespace

watch::watch(const core::clock& c)
    : clock_(c),
      timer_(opened(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create")),
      signal_(opened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      thread_([this] { serve(); }) {}

watch::~watch() {
  stop();
  ::close(timer_);
  ::close(signal_);
}

void watch::guard(const hold_ptr& h) {
  std::lock_guard lock{mutex_};
  alarms_.sweep([](const hold_ptr& p) { return p->where() == phase::held; });
  const auto when = alarm_of(*h);
  alarms_.at(when, h);
  if (when < armed_) arm(when);
}

void watch::tell(const hold_ptr& h) noexcept {
  herald_.tell(h, herald::news::lost);
  signal();
}

void watch::ask(const hold_ptr& h) noexcept {
  herald_.tell(h, herald::news::revoked);
  signal();
}

lease::time_point watch::look() {
  lease::time_point next;
  {
    std::unique_lock lock{mutex_};
    const auto mine = ++looks_wanted_;
    signal();
    looked_.wait(lock, [&] { return looks_done_ >= mine || stopping_; });
    next = alarms_.next();
  }
  herald_.settle();
  return next;
}

// The herald stops first: while it runs callbacks, this thread must still supervise it.
void watch::stop() {
  herald_.stop();
  {
    std::lock_guard lock{mutex_};
    stopping_ = true;
    looked_.notify_all();
  }
  signal();
  if (thread_.joinable()) thread_.join();
}

void watch::signal() noexcept { ::eventfd_write(signal_, 1); }

// Under the lock. Setting the timer needs no wake-up: the thread polls its descriptor.
void watch::arm(lease::time_point when) {
  armed_ = when;
  if (!clock_.flows()) return;
  itimerspec spec{};
  if (when != lease::time_point::max()) {
    const auto since = std::max<lease::duration>(when.time_since_epoch(), std::chrono::nanoseconds{1});
    spec.it_value.tv_sec = static_cast<time_t>(since / std::chrono::seconds{1});
    spec.it_value.tv_nsec = static_cast<long>((since % std::chrono::seconds{1}).count());
  }
  ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &spec, nullptr);
}

void watch::wait(bool look_soon) noexcept {
  pollfd fds[2] = {{timer_, POLLIN, 0}, {signal_, POLLIN, 0}};
  ::poll(fds, 2, look_soon ? static_cast<int>(herald::patience.count()) : -1);
  std::uint64_t ignored = 0;
  [[maybe_unused]] ssize_t n = ::read(timer_, &ignored, sizeof ignored);
  n = ::read(signal_, &ignored, sizeof ignored);
}

// All holds that are over are ended before the first callback runs: valid() does not wait for a callback.
void watch::ring_due() {
  const auto now = clock_.now();
  const auto quiet = herald_.be_quiet();
  while (auto h = alarms_.pop_due(now)) {
    if ((*h)->where() != phase::held) continue;
    const auto when = alarm_of(**h);
    if (when > now) {
      alarms_.at(when, std::move(*h));
    } else if ((*h)->end(phase::lost)) {
      herald_.tell(*h, herald::news::lost, quiet);
    }
  }
  arm(alarms_.next());
}

void watch::serve() {
  on_own_thread = true;
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    const auto looks = looks_wanted_;
    ring_due();
    looks_done_ = looks;
    looked_.notify_all();
    lock.unlock();
    wait(herald_.look_after());
    lock.lock();
  }
}

}  // namespace tyer::runtime
