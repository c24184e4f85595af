// Driving a client_runtime, by the I/O thread or for a moment by a caller.
#include "runtime/client_runtime.hpp"
#include "runtime/own_thread.hpp"
#include "runtime/standing.hpp"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

namespace tyer::runtime {

// ---- a caller

// While it lives, the caller drives. However it ends, the baton is put down.
class client_runtime::drive {
 public:
  explicit drive(client_runtime& h) noexcept : client_runtime_(h) {}
  drive(const drive&) = delete;
  ~drive() {
    client_runtime_.driver_waits_for_.store(nullptr, std::memory_order_relaxed);
    client_runtime_.baton_.put_down(client_runtime_.resting());
  }

 private:
  client_runtime& client_runtime_;
};

// A caller that will not wait and finds no driver sends the request itself: that does not block, and the next call will
// collect the answer.
void client_runtime::see_to_it(afterwards next) {
  if (asleep_.exchange(false, std::memory_order_seq_cst)) return parts_.engine->wake();
  if (next == afterwards::waits) return;
  if (on_own_thread || !may_drive() || !baton_.take()) return baton_.want_io();
  const drive mine{*this};
  turn(waiting::no);
  open_latches();
}

// The driver serves the whole client: so a thread with a lower scheduling priority than the I/O thread must not drive.
bool client_runtime::may_drive() const noexcept {
  return recent_standing() >= standing_.load(std::memory_order_relaxed);
}

// A caller drives only for a short time. For a long wait it leaves the driving to the I/O thread.
void client_runtime::wait(latch& l) {
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

bool client_runtime::has_tasks() {
  std::lock_guard lock{inbox_mutex_};
  return !inbox_.empty() || called_off_ != nullptr;
}

bool client_runtime::resting() {
  const std::lock_guard in{coordinator_mutex_};
  return coordinator_->quiet() && readiness_asked_.empty() && !has_tasks() &&
         !stopping_.load(std::memory_order_seq_cst) && coordinator_->next_due() > parts_.clock->now() + baton::grace;
}

// A task that runs out of memory is dropped: its destructor answers the waiting caller.
void client_runtime::run_tasks() {
  std::shared_ptr<revocable> called_off;
  {
    std::lock_guard lock{inbox_mutex_};
    working_.swap(inbox_);
    called_off.swap(called_off_);
  }
  for (task& o : working_) {
    try {
      o(*coordinator_);
    } catch (const std::bad_alloc&) {}
  }
  working_.clear();
  while (called_off) {
    auto next = std::move(called_off->called_off_before);
    called_off->call_off(*coordinator_);
    called_off = std::move(next);
  }
}

// Returns when the next thing is due.
lease::time_point client_runtime::do_what_is_due(waiting& w) {
  const std::lock_guard in{coordinator_mutex_};
  run_tasks();
  if (closed() && !coordinator_->closed()) coordinator_->close();
  try {
    coordinator_->on_time(parts_.clock->now());
  } catch (const std::bad_alloc&) {  // what is due stays due
  }
  const auto readiness_due = answer_readiness();
  if (!opening_.empty()) w = waiting::no;  // a task was answered at once, and its caller waits
  return w == waiting::yes ? std::min(coordinator_->next_due(), readiness_due) : lease::time_point::min();
}

// The driver may be a caller, which must not see exceptions of other calls: an engine that has run out of memory answers
// the lost requests as unknown, and continues.
void client_runtime::turn(waiting w, lease::time_point last) {
  auto until = std::min(do_what_is_due(w), last);
  asleep_.store(w == waiting::yes, std::memory_order_seq_cst);
  if (has_tasks() || stopping_.load(std::memory_order_seq_cst)) until = lease::time_point::min();
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

void client_runtime::open_engine() {
  while (!stopping_.load(std::memory_order_seq_cst)) {
    try {
      return parts_.engine->open(*this);
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
  }
}

void client_runtime::serve() {
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

// A caller has its answer, and the client is otherwise idle: the caller may drive its next call itself. The baton is put
// down before the caller continues, or the caller would find the I/O thread still driving.
void client_runtime::stand_by() {
  latch_line answered;
  {
    const std::lock_guard in{coordinator_mutex_};
    answered.swap(opening_);
  }
  baton_.stand_by([this] { return has_tasks(); },
                  [&] {
                    while (const auto l = answered.pop()) let_go(*l);
                  });
}

bool client_runtime::drained() {
  const std::lock_guard in{coordinator_mutex_};
  return coordinator_->drained();
}

bool client_runtime::somebody_is_answered() {
  const std::lock_guard in{coordinator_mutex_};
  return !opening_.empty();
}

bool client_runtime::no_more_tasks() {
  std::lock_guard lock{inbox_mutex_};
  ended_ = inbox_.empty() && called_off_ == nullptr;
  return ended_;
}

void client_runtime::close_engine() {
  const auto closed = std::make_shared<bool>(false);
  parts_.engine->close([closed](engine::outcome<engine::done>&&) { *closed = true; });
  const auto until = parts_.clock->now() + std::chrono::milliseconds{200};
  while (!*closed && parts_.clock->now() < until) {
    parts_.engine->run(until);
    if (!parts_.clock->flows()) break;
  }
}

// Every call that still waits gets an answer, however little time there was.
void client_runtime::shut_down() {
  {
    const std::lock_guard in{coordinator_mutex_};
    coordinator_->close();
    run_tasks();
  }
  try {
    close_engine();
  } catch (const std::bad_alloc&) {  // the coordinator answers what the engine did not
  }
  const std::lock_guard in{coordinator_mutex_};
  coordinator_->abandon();
  while (!no_more_tasks()) run_tasks();
  answer_readiness();
}

}  // namespace tyer::runtime
