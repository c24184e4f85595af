// The house and whoever drives it: the I/O thread, or a caller for a moment.
#include "runtime/house.hpp"
#include "runtime/own_thread.hpp"
#include "runtime/standing.hpp"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

namespace tyer::runtime {

// ---- a caller

// While it lives, the caller drives. However it ends, the baton is put down.
class house::drive {
 public:
  explicit drive(house& h) noexcept : house_(h) {}
  drive(const drive&) = delete;
  ~drive() {
    house_.driver_waits_for_.store(nullptr, std::memory_order_relaxed);
    house_.baton_.put_down(house_.resting());
  }

 private:
  house& house_;
};

// A caller that goes away and finds nobody driving sends the order off itself: that takes no waiting, and a call that
// follows soon will collect the answer.
void house::see_to_it(then next) {
  if (asleep_.exchange(false, std::memory_order_seq_cst)) return parts_.engine->wake();
  if (next == then::waits) return;
  if (on_own_thread || !may_drive() || !baton_.take()) return baton_.want_io();
  const drive mine{*this};
  turn(waiting::no);
  open_latches();
}

// Whoever drives does it for all: not a thread that the system lets run after ours.
bool house::may_drive() const noexcept { return recent_standing() >= standing_.load(std::memory_order_relaxed); }

// A caller drives for a moment only. A long wait is left to the thread that is there for it, whatever becomes of the caller's.
void house::wait(latch& l) {
  constexpr std::chrono::milliseconds drive_max{50};
  if (may_drive() && baton_.take()) {
    const drive mine{*this};
    driver_waits_for_.store(&l, std::memory_order_seq_cst);
    const bool flows = parts_.clock->flows();
    const auto last = flows ? parts_.clock->now() + drive_max : lease::time_point::max();
    while (!l.open() && !stopping_.load(std::memory_order_seq_cst)) {
      turn(waiting::yes, last);
      open_latches();
      if (flows && parts_.clock->now() >= last) break;
    }
  } else {
    baton_.want_io();
  }
  l.wait();
}

// ---- turns

bool house::has_orders() {
  std::lock_guard lock{inbox_mutex_};
  return !inbox_.empty() || called_off_ != nullptr;
}

bool house::resting() {
  const std::lock_guard in{door_};
  return desk_->quiet() && hopes_.empty() && !has_orders() && !stopping_.load(std::memory_order_seq_cst) &&
         desk_->next_due() > parts_.clock->now() + baton::grace;
}

// An order that finds no memory is dropped: whoever waits for its answer has it when the order is destroyed.
void house::carry_out_orders() {
  std::shared_ptr<revocable> called_off;
  {
    std::lock_guard lock{inbox_mutex_};
    working_.swap(inbox_);
    called_off.swap(called_off_);
  }
  for (order& o : working_) {
    try {
      o(*desk_);
    } catch (const std::bad_alloc&) {}
  }
  working_.clear();
  while (called_off) {
    auto next = std::move(called_off->called_off_before);
    called_off->call_off(*desk_);
    called_off = std::move(next);
  }
}

// Tells until when nothing else is due.
lease::time_point house::do_what_is_due(waiting& w) {
  const std::lock_guard in{door_};
  carry_out_orders();
  if (closed() && !desk_->closed()) desk_->close();
  try {
    desk_->on_time(parts_.clock->now());
  } catch (const std::bad_alloc&) {  // what is due stays due
  }
  const auto hoped_until = answer_hopes();
  if (!opening_.empty()) w = waiting::no;  // an order had its answer at once, and somebody waits for it
  return w == waiting::yes ? std::min(desk_->next_due(), hoped_until) : lease::time_point::min();
}

// The driver may be a caller, who must not pay for others: an engine that has run out of memory answers what it has lost as
// unknown, and goes on.
void house::turn(waiting w, lease::time_point last) {
  auto until = std::min(do_what_is_due(w), last);
  asleep_.store(w == waiting::yes, std::memory_order_seq_cst);
  if (has_orders() || stopping_.load(std::memory_order_seq_cst)) until = lease::time_point::min();
  try {
    parts_.engine->run(until);
  } catch (const std::bad_alloc&) {}
  asleep_.store(false, std::memory_order_relaxed);
  if (closed() && drained()) {
    std::lock_guard lock{state_mutex_};
    drained_ = true;
    state_changed_.notify_all();
  }
}

void house::open_engine() {
  while (!stopping_.load(std::memory_order_seq_cst)) {
    try {
      return parts_.engine->open(*this);
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
  }
}

void house::serve() {
  on_own_thread = true;
  standing_.store(standing(), std::memory_order_relaxed);
  open_engine();
  while (!stopping_.load(std::memory_order_seq_cst)) {
    turn(waiting::yes);
    if (somebody_is_answered() && resting()) {
      stand_by();
    } else {
      open_latches();
    }
  }
  shut_down();
  open_latches();
}

// A caller has its answer, and nothing else goes on: its next call is its own to drive. The baton lies there before the
// caller goes on, or it would find the I/O thread still busy.
void house::stand_by() {
  latch_line answered;
  {
    const std::lock_guard in{door_};
    answered.swap(opening_);
  }
  baton_.stand_by([this] { return has_orders(); },
                  [&] {
                    while (const auto l = answered.pop()) let_go(*l);
                  });
}

bool house::drained() {
  const std::lock_guard in{door_};
  return desk_->drained();
}

bool house::somebody_is_answered() {
  const std::lock_guard in{door_};
  return !opening_.empty();
}

bool house::no_more_orders() {
  std::lock_guard lock{inbox_mutex_};
  ended_ = inbox_.empty() && called_off_ == nullptr;
  return ended_;
}

void house::close_engine() {
  const auto closed = std::make_shared<bool>(false);
  parts_.engine->close([closed](engine::outcome<engine::done>&&) { *closed = true; });
  const auto until = parts_.clock->now() + std::chrono::milliseconds{200};
  while (!*closed && parts_.clock->now() < until) {
    parts_.engine->run(until);
    if (!parts_.clock->flows()) break;
  }
}

// Whoever still waits for something gets an answer, however little time there was.
void house::shut_down() {
  {
    const std::lock_guard in{door_};
    desk_->close();
    carry_out_orders();
  }
  try {
    close_engine();
  } catch (const std::bad_alloc&) {  // what it did not answer, the desk does
  }
  const std::lock_guard in{door_};
  desk_->abandon();
  while (!no_more_orders()) carry_out_orders();
  answer_hopes();
}

}  // namespace tyer::runtime
