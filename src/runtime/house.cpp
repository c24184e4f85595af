#include "runtime/house.hpp"

#include "runtime/failures.hpp"
#include "runtime/fork.hpp"
#include "runtime/own_thread.hpp"

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

void house::confirm(hold_ptr h, confirm_reply told, then next) {
  submit([h = std::move(h), told = std::move(told)](desk& d) mutable { d.confirm(h, std::move(told)); }, next);
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

// While it lives, this thread is inside the user's executor. That may run at once what it is given, and we may be in the midst of
// the engine: what a callback does there (destroy the client, wait for another call) is not to be done there.
class house::handing_over {
 public:
  handing_over() noexcept : before_(std::exchange(here_, true)) {}
  handing_over(const handing_over&) = delete;
  ~handing_over() { here_ = before_; }
  static bool here() noexcept { return here_; }

 private:
  static thread_local bool here_;
  bool before_;
};
thread_local bool house::handing_over::here_ = false;

void house::complete(std::function<void()> f) {
  if (forked()) return f();
  complete(std::make_shared<plain_completion>(std::move(f)));
}

// If the user's executor throws (it has no memory, or no thread) it runs on the client's own thread: whoever drives the engine
// now may be a caller, and must not pay for that.
void house::complete(std::shared_ptr<completion> c) {
  if (forked()) return c->run_once();
  if (!parts_.completions) return run_on_own_thread(std::move(c));
  const handing_over now;
  try {
    parts_.completions([me = weak_from_this(), c] {
      if (!handing_over::here()) return c->run_once();
      if (const auto h = me.lock()) return h->run_on_own_thread(c);
      if (c->enters_a_line()) late_line::of_nobody().run_soon(c);
    });
  } catch (...) {
    run_on_own_thread(std::move(c));
  }
}

void house::run_on_own_thread(std::shared_ptr<completion> c) {
  if (!c->enters_a_line()) return;
  if (!watch_->run_soon(c)) late_->run_soon(std::move(c));  // the client was closed
}

// ---- what the engine tells

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

void house::expect_ready(std::shared_ptr<hope> h) {
  submit(
      [h = std::move(h), this](desk& d) {
        if (d.closed()) return h->answer(errc::closed);  // nobody may be driving any more
        hopes_.push_back(h);
      },
      then::goes);
}

// The driver's. Tells when the first of those that are left has hoped for long enough.
lease::time_point house::answer_hopes() noexcept {
  if (hopes_.empty()) return lease::time_point::max();
  const auto now = parts_.clock->now();
  tyer::failure news;
  bool known = true;
  {
    const std::lock_guard lock{state_mutex_};
    if (closed()) {
      news = errc::closed;
    } else if (!ready_) {
      known = false;
      news = trouble_ ? same(trouble_) : tyer::failure{errc::unavailable};
    }
  }
  auto first = lease::time_point::max();
  std::erase_if(hopes_, [&](const std::shared_ptr<hope>& h) {
    if (!h->over && (known || h->limit <= now)) h->answer(same(news));
    if (!h->over) first = std::min(first, h->limit);
    return h->over;
  });
  return first;
}

house::told_facts house::facts() {
  const std::lock_guard lock{state_mutex_};
  return told_;
}

bool house::close(std::chrono::milliseconds at_most) {
  if (forked()) return false;
  if (!closed_.exchange(true)) see_to_it(then::goes);
  std::unique_lock lock{state_mutex_};
  state_changed_.notify_all();  // whoever waits for the engine to be ready
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

std::size_t house::waiting_for(std::string_view name) {
  const std::lock_guard in{door_};
  return desk_->waiting_for(name);
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
        // A desk that is closed may have nobody who drives it, and then is not to be touched from here.
        if (!d.closed()) {
          try {
            d.on_time(parts_.clock->now());
          } catch (const std::bad_alloc&) {  // what is due stays due
          }
          mine->next = d.next_due();
        }
        mine->done.store(true, std::memory_order_release);
        mine->done.notify_one();
      },
      then::goes);
  mine->done.wait(false, std::memory_order_acquire);
  return std::min(mine->next, watch_->look());
}

}  // namespace tyer::runtime
