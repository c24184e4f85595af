#include "runtime/house.hpp"

#include "runtime/failures.hpp"
#include "runtime/fork.hpp"
#include "runtime/own_thread.hpp"
#include "runtime/standing.hpp"

#include <new>
#include <utility>

namespace tyer::runtime {

house::house(parts p)
    : parts_(std::move(p)),
      born_in_(fork_generation()),
      watch_(std::make_unique<watch>(*parts_.clock)),
      desk_(std::make_unique<desk>(*parts_.engine, *parts_.clock, *parts_.ids, *watch_, parts_.bounds, &door_)) {}

std::shared_ptr<house> house::open(parts p) {
  // In a forked child the threads did not come along, and whatever they held or waited for is held and waited for for
  // ever (even destroying a condition variable would block): let everything lie.
  std::shared_ptr<house> h{new house{std::move(p)}, [](house* mine) {
                             if (!mine->forked()) delete mine;
                           }};
  h->thread_ = std::thread{[raw = h.get()] { raw->serve(); }};
  return h;
}

house::~house() {
  close(std::chrono::milliseconds{0});
  if (thread_.joinable()) thread_.detach();  // closed from one of our own threads
}

bool house::forked() const noexcept { return fork_generation() != born_in_; }

// ---- orders from callers

bool house::put(order& o) {
  std::lock_guard lock{inbox_mutex_};
  if (ended_) return false;
  inbox_.push_back(std::move(o));
  return true;
}

void house::submit(order o, then next) {
  if (!put(o)) return o(*desk_);  // a closed desk only says so, and touches nothing but what the order brings along
  see_to_it(next);
}

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

// Whoever waits may have taken the baton meanwhile, and then sleeps in the engine.
void house::let_go(latch& l) noexcept {
  l.let_go();
  if (driver_waits_for_.load(std::memory_order_seq_cst) == &l) parts_.engine->wake();
}

void house::open_latches() {
  latch_line answered;
  {
    const std::lock_guard in{door_};
    answered.swap(opening_);
  }
  while (const auto l = answered.pop()) l->let_go();
}

// ---- what callers do by themselves, without the engine

// Inside soon, and with no order before it: else the caller takes the long way, and keeps its turn.
bool house::at_the_door(std::unique_lock<desk::door>& in) {
  constexpr int tries_max = 200;  // the others are inside for less than a microsecond, the driver for longer
  for (int i = 0; i < tries_max && !in.owns_lock(); ++i) static_cast<void>(in.try_lock());
  return in.owns_lock() && !has_orders();
}

bool house::join(const std::shared_ptr<wish>& w) {
  std::unique_lock in{door_, std::defer_lock};
  return at_the_door(in) && desk_->join(w);
}

bool house::hand_off(const hold_ptr& h) {
  latch_line answered;
  {
    std::unique_lock in{door_, std::defer_lock};
    if (!at_the_door(in)) return false;
    answered.swap(opening_);  // the driver's, who opens them when it is ready to
    const bool done = desk_->hand_off(h);
    answered.swap(opening_);
    if (!done) return false;
  }
  while (const auto l = answered.pop()) let_go(*l);
  return true;
}

bool house::want(std::shared_ptr<wish> w, then next) {
  if (next == then::waits && join(w)) return true;
  submit([w = std::move(w)](desk& d) { d.want(w); }, next);
  return false;
}

void house::cancel(std::shared_ptr<revocable> r, errc why) noexcept {
  {
    const std::lock_guard lock{inbox_mutex_};
    if (ended_ || r->called_off) return;  // a desk that has ended has answered everybody
    r->called_off = why;
    r->called_off_before = std::move(called_off_);
    called_off_ = std::move(r);
  }
  see_to_it(then::goes);
}

void house::give_back(hold_ptr h, release_reply told, then next) {
  if (!told && hand_off(h)) return;
  submit([h = std::move(h), told = std::move(told)](desk& d) mutable { d.give_back(h, std::move(told)); }, next);
}

void house::convert(std::shared_ptr<change> c, then next) {
  submit([c = std::move(c)](desk& d) { d.convert(c); }, next);
}

void house::ask(std::string name, std::string reason, engine::reply<std::uint32_t> told, then next) {
  submit([name = std::move(name), reason = std::move(reason),
          told = std::move(told)](desk& d) mutable { d.ask(name, reason, std::move(told)); },
         next);
}

void house::show(std::string name, engine::reply<engine::page> told, then next) {
  submit([name = std::move(name), told = std::move(told)](desk& d) mutable { d.show(name, std::move(told)); }, next);
}

void house::list(std::string prefix, std::string cursor, std::uint32_t limit, engine::reply<engine::page> told,
                 then next) {
  submit([prefix = std::move(prefix), cursor = std::move(cursor), limit,
          told = std::move(told)](desk& d) mutable { d.list(prefix, cursor, limit, std::move(told)); },
         next);
}

void house::evict(engine::entry which, std::string reason, engine::reply<core::fate> told, then next) {
  submit([which = std::move(which), reason = std::move(reason), told = std::move(told)](
             desk& d) mutable { d.evict({which.who, which.name, which.how}, reason, std::move(told)); },
         next);
}

void house::diagnose(engine::reply<std::vector<engine::finding>> told, then next) {
  submit([told = std::move(told)](desk& d) mutable { d.diagnose(std::move(told)); }, next);
}

void house::observe(std::shared_ptr<observer> o) {
  submit([o = std::move(o)](desk& d) { d.observe(o); }, then::goes);
}

void house::forget(std::shared_ptr<observer> o) {
  submit([o = std::move(o)](desk& d) { d.forget(o); }, then::goes);
}

void house::complete(std::function<void()> f) {
  if (parts_.completions) return parts_.completions(std::move(f));
  if (!watch_->run_soon([f] { f(); })) std::thread{std::move(f)}.detach();  // the client was closed
}

// ---- the driver

bool house::has_orders() {
  std::lock_guard lock{inbox_mutex_};
  return !inbox_.empty() || called_off_ != nullptr;
}

bool house::resting() {
  const std::lock_guard in{door_};
  return desk_->quiet() && !has_orders() && !stopping_.load(std::memory_order_seq_cst) &&
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
  if (!opening_.empty()) w = waiting::no;  // an order had its answer at once, and somebody waits for it
  return w == waiting::yes ? desk_->next_due() : lease::time_point::min();
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
}

void house::up(const engine::server_facts& facts) {
  {
    const std::lock_guard in{door_};
    desk_->up(facts);
  }
  std::lock_guard lock{state_mutex_};
  ready_ = true;
  trouble_ = {};
  told_ = {facts, parts_.clock->wall()};
  state_changed_.notify_all();
}

void house::down(const engine::failure& f) {
  {
    const std::lock_guard in{door_};
    desk_->down(f);
  }
  if (parts_.log) parts_.log(log_level::warning, f.words);
  std::lock_guard lock{state_mutex_};
  trouble_ = to_public(f);
}

// ---- life and death

tyer::failure house::wait_ready(std::chrono::milliseconds at_most) {
  if (on_own_thread) return errc::would_deadlock;
  std::unique_lock lock{state_mutex_};
  state_changed_.wait_for(lock, at_most, [this] { return ready_ || closed(); });
  if (closed()) return errc::closed;
  if (ready_) return {};
  return trouble_ ? trouble_ : tyer::failure{errc::unavailable};
}

house::told_facts house::facts() {
  const std::lock_guard lock{state_mutex_};
  return told_;
}

bool house::close(std::chrono::milliseconds at_most) {
  if (forked()) return false;
  if (!closed_.exchange(true)) see_to_it(then::goes);
  std::unique_lock lock{state_mutex_};
  if (!on_own_thread) state_changed_.wait_for(lock, at_most, [this] { return drained_ || shut_; });
  const bool all = drained_;
  if (std::exchange(shut_, true)) return all;
  state_changed_.notify_all();
  lock.unlock();
  stopping_.store(true, std::memory_order_seq_cst);
  parts_.engine->wake();
  baton_.want_io();
  if (thread_.joinable() && thread_.get_id() != std::this_thread::get_id()) thread_.join();
  watch_->stop();
  return all;
}

lease::time_point house::look() {
  if (closed()) return lease::time_point::max();
  struct glance {
    std::atomic<bool> done{false};
    lease::time_point next = lease::time_point::max();
  };
  const auto mine = std::make_shared<glance>();
  // The first order makes the driver look at the time; the second comes when it has served what it found.
  submit([](desk&) {}, then::goes);
  submit(
      [mine, this](desk& d) {
        d.on_time(parts_.clock->now());
        mine->next = d.next_due();
        mine->done.store(true, std::memory_order_release);
        mine->done.notify_one();
      },
      then::goes);
  mine->done.wait(false, std::memory_order_acquire);
  return std::min(mine->next, watch_->look());
}

}  // namespace tyer::runtime
