#include "api/hand_clock.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace testing {

namespace {

using namespace std::chrono_literals;

// A thread that sleeps outside of Tyer for this long counts as waiting for others. Longer than the sleeps with which tests
// let another thread run first; short compared with the time that a test may take.
constexpr auto long_sleep = 200ms;
constexpr auto look_every = 20ms;

// How often a thread has gone to sleep, if it sleeps now. A runnable thread that waits for a processor on a busy machine
// does not count as asleep: the kernel knows the difference.
std::optional<std::uint64_t> asleep(int tid) {
  std::ifstream status{"/proc/self/task/" + std::to_string(tid) + "/status"};
  std::string line;
  bool sleeping = false;
  while (std::getline(status, line)) {
    if (line.starts_with("State:")) sleeping = line.find("S (") != std::string::npos;
    if (line.starts_with("voluntary_ctxt_switches:") && sleeping) return std::stoull(line.substr(line.find(':') + 1));
  }
  return std::nullopt;
}

}  // namespace

struct hand_clock::thread {
  static const std::shared_ptr<thread>& current() {
    static thread_local const auto mine = std::make_shared<thread>();
    return mine;
  }
};

namespace {

template <class T>
bool same(const std::weak_ptr<T>& a, const std::weak_ptr<T>& b) noexcept {
  return !a.owner_before(b) && !b.owner_before(a);
}

}  // namespace

class hand_clock::pending final : public core::clock::call {
 public:
  pending(std::shared_ptr<const hand_clock> c, std::weak_ptr<thread> who)
      : clock_(std::move(c)), who_(std::move(who)) {}
  ~pending() override { answered(); }

  void sleeps(time_point limit) noexcept override {
    const std::lock_guard lock{clock_->mutex_};
    if (over_ || sleeping_ || limit <= clock_->now()) return;
    sleeping_ = true;
    count(1);
    if (limit == time_point::max()) return;
    limit_ = limit;
    clock_->limited_.splice(clock_->limited_.end(), place_);
  }
  void answered() noexcept override {
    const std::lock_guard lock{clock_->mutex_};
    wake();
  }

  // Behind the clock's mutex.
  time_point limit() const noexcept { return limit_; }
  void wake() noexcept {
    if (std::exchange(over_, true) || !sleeping_) return;
    count(-1);
    if (limit_ == time_point::max()) return;
    place_.splice(place_.end(), clock_->limited_, std::ranges::find(clock_->limited_, this));
  }

 private:
  void count(int more) noexcept {
    for (known& k : clock_->threads_) {
      if (same(k.who, who_)) k.calls += more;
    }
    ++clock_->changes_;
    clock_->changed_.notify_all();
  }

  const std::shared_ptr<const hand_clock> clock_;
  const std::weak_ptr<thread> who_;
  // Behind the clock's mutex.
  bool sleeping_ = false, over_ = false;
  time_point limit_ = time_point::max();
  std::list<pending*> place_{this};  // its node in limited_, allocated before the thread sleeps
};

std::shared_ptr<core::clock::call> hand_clock::begin_call() const {
  know_this_thread();
  return std::make_shared<pending>(shared_from_this(), thread::current());
}

void hand_clock::set(time_point t) noexcept {
  const std::lock_guard lock{mutex_};
  set_locked(t);
}

bool hand_clock::set_if_all_slept(time_point t, std::uint64_t since) {
  const std::lock_guard lock{mutex_};
  if (changes_ != since || !all_sleep_locked()) return false;
  set_locked(t);
  return true;
}

void hand_clock::set_locked(time_point t) noexcept {
  now_.store(t.time_since_epoch().count(), std::memory_order_release);
  for (auto at = limited_.begin(); at != limited_.end();) {
    pending& p = **at++;
    if (p.limit() <= t) p.wake();
  }
}

void hand_clock::due(time_point t) const {
  const std::lock_guard lock{mutex_};
  dues_.insert(t);
}

// The store answers at once, or else when this clock moves; waiting in real time does not help. The real wait is for the other
// threads, which a busy machine may not let run for a while: with 250 ms a client was said not to have given everything back.
std::chrono::milliseconds hand_clock::really(std::chrono::milliseconds at_most) const noexcept {
  return std::min<std::chrono::milliseconds>(at_most, stalled_.load(std::memory_order_acquire) ? 20ms : 2s);
}

hand_clock::time_point hand_clock::next_due() const {
  const std::lock_guard lock{mutex_};
  dues_.erase(dues_.begin(), dues_.upper_bound(now()));
  auto next = dues_.empty() ? time_point::max() : *dues_.begin();
  for (const pending* p : limited_) next = std::min(next, p->limit());
  return next;
}

void hand_clock::know_this_thread() const {
  const std::lock_guard lock{mutex_};
  const std::weak_ptr<thread> mine = thread::current();
  std::erase_if(threads_, [](const known& k) { return k.who.expired(); });
  const auto at = std::ranges::find_if(threads_, [&](const known& k) { return same(k.who, mine); });
  if (at == threads_.end()) threads_.push_back({.who = mine, .tid = ::gettid()});
}

bool hand_clock::sleeps_elsewhere(known& k) {
  const auto sleeps = asleep(k.tid);
  const auto now = std::chrono::steady_clock::now();
  if (!sleeps || *sleeps != k.sleeps || k.since == std::chrono::steady_clock::time_point{}) {
    k.since = now;
    k.sleeps = sleeps.value_or(0);
    return false;
  }
  return now - k.since >= long_sleep;
}

bool hand_clock::all_sleep_locked() const {
  std::erase_if(threads_, [](const known& k) { return k.who.expired(); });
  if (std::ranges::none_of(threads_, [](const known& k) { return k.calls > 0; })) return false;
  return std::ranges::all_of(threads_, [](known& k) { return k.calls > 0 || sleeps_elsewhere(k); });
}

std::uint64_t hand_clock::changes() const {
  const std::lock_guard lock{mutex_};
  return changes_;
}

bool hand_clock::wait_until_all_sleep(const std::stop_token& over) const {
  std::unique_lock lock{mutex_};
  while (!over.stop_requested()) {
    if (all_sleep_locked()) return true;
    const auto changed = [this, before = changes_] { return changes_ != before; };
    if (std::ranges::any_of(threads_, [](const known& k) { return k.calls > 0; })) {
      changed_.wait_for(lock, over, look_every, changed);  // others may have fallen asleep elsewhere
    } else {
      changed_.wait(lock, over, changed);
    }
  }
  return false;
}

void hand_clock::wait_for_a_change(const std::stop_token& over) const {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, over, look_every, [this, before = changes_] { return changes_ != before; });
}

}  // namespace testing
}  // namespace v1
}  // namespace tyer
