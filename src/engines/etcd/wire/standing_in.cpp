// Timers, and the thread that sees to them while nobody runs the loop.
//
// It sleeps until a timer is late, or until what may be told anywhere has been under way for a while, and finds out then whether
// somebody is there. It drives the loop for as long as it takes to carry that out, or until somebody wants it.
#include "engines/etcd/wire/channel.hpp"
#include "engines/etcd/wire/loop.hpp"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

namespace tyer::etcd::wire {

namespace {

using namespace std::chrono_literals;

constexpr auto late = 5ms;         // whoever is in run() would have seen to it
constexpr auto look_again = 50ms;  // somebody is there, and has not seen to it yet
constexpr auto at_a_time = 100ms;

class timer final : public delivery {
 public:
  explicit timer(std::function<void()> f) : delivery(told::anywhere), ring_(std::move(f)) {}
  void deliver() override { ring_(); }

 private:
  const std::function<void()> ring_;
};

}  // namespace

void loop::body::after(std::chrono::nanoseconds d, std::function<void()> f) {
  auto t = std::make_shared<timer>(std::move(f));
  const auto at = clock_.now() + std::max(d, 0ns);
  bool first = false;
  {
    const std::lock_guard lock{timers_mutex_};
    if (ended_) return;
    const auto added = timers_.emplace(at, std::move(t));
    first = added == timers_.begin();
    if (!stands_in_.joinable()) start_standing_in();
  }
  if (first) timers_changed_.notify_one();
}

// Without one, what is overdue waits for the next run().
void loop::body::start_standing_in() {
  try {
    stands_in_ = std::thread{[this] { stand_in(); }};
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {}
}

void loop::body::take_due_timers(time_point t) {
  const std::lock_guard lock{timers_mutex_};
  while (!timers_.empty() && timers_.begin()->first <= t) {
    push(std::move(timers_.begin()->second));
    timers_.erase(timers_.begin());
  }
}

// Whoever asked may be gone before it is sent, or before it is answered.
void loop::body::begins(told where) {
  if (where != told::anywhere || anywhere_++ > 0) return;
  {
    const std::lock_guard lock{timers_mutex_};
    attend_at_ = clock_.now() + late;
    if (!ended_ && !stands_in_.joinable()) start_standing_in();
  }
  timers_changed_.notify_one();
}

time_point loop::body::look_at() const {
  const auto rings = timers_.empty() ? time_point::max() : timers_.begin()->first + late;
  return anywhere_ > 0 ? std::min(rings, attend_at_) : rings;
}

void loop::body::stand_in() {
  std::unique_lock lock{timers_mutex_};
  while (!ended_) {
    if (timers_.empty() && anywhere_ == 0) {
      timers_changed_.wait(lock, [this] { return ended_ || !timers_.empty() || anywhere_ > 0; });
      continue;
    }
    const auto wait = look_at() - clock_.now();
    if (wait > lease_clock::duration::zero()) {
      timers_changed_.wait_for(lock, std::min<lease_clock::duration>(wait, 1h));
      continue;
    }
    lock.unlock();
    const bool done = drive_while_nobody_does();
    lock.lock();
    if (!done && !ended_) timers_changed_.wait_for(lock, look_again);
  }
}

// False: somebody else has the turn, or wants it.
bool loop::body::drive_while_nobody_does() {
  bool told_some = false, done = false;
  while (!ended_ && !done && wanted_ == 0 && turn_.try_lock()) {
    const auto t = clock_.now();
    see_to_time(t);
    bool anybody = !anywhere_line_.empty();
    if (!anybody && anywhere_ > 0) {
      serve(std::min<lease_clock::duration>(due() - t, at_a_time));
      anybody = !anywhere_line_.empty();
    }
    done = !anybody && anywhere_ == 0;
    turn_.unlock();
    if (anybody) deliver(anywhere_line_);
    told_some = told_some || anybody;
  }
  if (told_some) wake();  // whoever comes into run() has something to look at
  return done;
}

}  // namespace tyer::etcd::wire
