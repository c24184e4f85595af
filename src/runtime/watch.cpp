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

lease::time_point alarm_of(const detail::hold_state& h) { return lease::alarm_at(h.valid_until(), h.what().ttl); }

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
  if (thread_.joinable()) {  // by a callback: when it returns, the thread finds that there is nothing left
    *abandoned_ = true;
    thread_.detach();
  }
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

void watch::tell(const hold_ptr& h) {
  run_soon([h] { h->tell_lost(); });
}

void watch::ask(const hold_ptr& h) {
  run_soon([h] { h->tell_revoked(); });
}

bool watch::run_soon(core::function<void()> task) {
  std::lock_guard lock{mutex_};
  if (ended_) return false;
  tasks_.push_back(std::move(task));
  if (tasks_.size() == 1) ::eventfd_write(signal_, 1);
  return true;
}

lease::time_point watch::look() {
  std::unique_lock lock{mutex_};
  const auto mine = ++looks_wanted_;
  ::eventfd_write(signal_, 1);
  if (!on_own_thread) looked_.wait(lock, [&] { return looks_done_ >= mine || stopping_; });
  return alarms_.next();
}

void watch::stop() {
  {
    std::lock_guard lock{mutex_};
    stopping_ = true;
    ::eventfd_write(signal_, 1);
  }
  if (thread_.joinable() && thread_.get_id() != std::this_thread::get_id()) thread_.join();
}

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

void watch::wait() {
  pollfd fds[2] = {{timer_, POLLIN, 0}, {signal_, POLLIN, 0}};
  ::poll(fds, 2, -1);
  std::uint64_t ignored = 0;
  [[maybe_unused]] ssize_t n = ::read(timer_, &ignored, sizeof ignored);
  n = ::read(signal_, &ignored, sizeof ignored);
}

// Whoever runs a callback must look at `abandoned` behind it: if it is set, there is no watch any more.
void watch::ring_due(std::unique_lock<std::mutex>& lock, const bool& abandoned) {
  const auto now = clock_.now();
  while (auto h = alarms_.pop_due(now)) {
    if ((*h)->where() != phase::held) continue;
    const auto when = alarm_of(**h);
    if (when > now) {
      alarms_.at(when, std::move(*h));
      continue;
    }
    if (!(*h)->end(phase::lost)) continue;
    lock.unlock();
    (*h)->tell_lost();
    h->reset();
    if (abandoned) return;
    lock.lock();
  }
  arm(alarms_.next());
}

void watch::serve() {
  on_own_thread = true;
  bool abandoned = false;
  std::unique_lock lock{mutex_};
  abandoned_ = &abandoned;
  for (;;) {
    const auto looks = looks_wanted_;
    ring_due(lock, abandoned);
    if (abandoned) return;
    auto tasks = std::exchange(tasks_, {});
    lock.unlock();
    for (auto& task : tasks) task();
    const bool idle = tasks.empty();
    tasks.clear();
    if (abandoned) return;
    lock.lock();
    looks_done_ = looks;
    looked_.notify_all();
    if (!tasks_.empty() || !idle) continue;
    if (stopping_) {
      ended_ = true;
      return;
    }
    lock.unlock();
    wait();
    lock.lock();
  }
}

}  // namespace tyer::runtime
