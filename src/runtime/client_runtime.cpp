#include "runtime/client_runtime.hpp"

#include "runtime/failures.hpp"
#include "runtime/own_thread.hpp"

#include <new>
#include <utility>

namespace tyer::runtime {

client_runtime::client_runtime(parts p)
    : parts_(std::move(p)),
      watch_(std::make_unique<watch>(*parts_.clock)),
      coordinator_(std::make_unique<coordinator>(*parts_.engine, *parts_.clock, *parts_.ids, *watch_, parts_.bounds,
                                                 &coordinator_mutex_)) {
  if (!parts_.on_event) return;
  events_ = std::make_shared<event_line>(std::move(parts_.on_event));
  coordinator_->report_to([this](event&& e) { report(std::move(e)); }, parts_.slow_wait, std::move(parts_.clocks));
}

std::shared_ptr<client_runtime> client_runtime::open(parts p) {
  // A forked child does not have the threads, and whatever they held or waited for stays so for ever (even destroying a
  // condition variable would block): leak everything.
  std::shared_ptr<client_runtime> h{new client_runtime{std::move(p)}, [](client_runtime* mine) {
                                      if (!mine->forked()) delete mine;
                                    }};
  h->thread_ = std::thread{[raw = h.get()] { raw->serve(); }};
  return h;
}

client_runtime::~client_runtime() {
  close(std::chrono::milliseconds{0});
  if (thread_.joinable()) thread_.detach();  // closed from one of our own threads
}

bool client_runtime::forked() const noexcept { return born_.forked(); }

// ---- tasks from callers

bool client_runtime::put(task& o) {
  std::lock_guard lock{inbox_mutex_};
  if (ended_) return false;
  inbox_.push_back(std::move(o));
  return true;
}

void client_runtime::submit(task o, afterwards next) {
  if (!put(o))
    return o(*coordinator_);  // a closed coordinator answers errc::closed, and touches only the task's own data
  see_to_it(next);
}

// The waiting caller may have taken the baton meanwhile, and then sleeps in the engine.
void client_runtime::let_go(latch& l) noexcept {
  l.let_go();
  if (driver_waits_for_.load(std::memory_order_seq_cst) == &l) parts_.engine->wake();
}

void client_runtime::open_latches() {
  latch_line answered;
  {
    const std::lock_guard in{coordinator_mutex_};
    answered.swap(opening_);
  }
  while (const auto l = answered.pop()) l->let_go();
}

// ---- what callers do by themselves, without the engine

// True if the caller gets the coordinator's mutex soon and no task is queued before it. Else the caller submits a task, and
// keeps its turn.
bool client_runtime::may_go_first(std::unique_lock<coordinator::mutex>& in) {
  constexpr int tries_max = 200;  // other callers hold it for less than a microsecond, the driver for longer
  for (int i = 0; i < tries_max && !in.owns_lock(); ++i) static_cast<void>(in.try_lock());
  return in.owns_lock() && !has_tasks();
}

bool client_runtime::join(const std::shared_ptr<acquisition>& w) {
  std::unique_lock in{coordinator_mutex_, std::defer_lock};
  return may_go_first(in) && coordinator_->join(w);
}

bool client_runtime::hand_off(const hold_ptr& h) {
  latch_line answered;
  {
    std::unique_lock in{coordinator_mutex_, std::defer_lock};
    if (!may_go_first(in)) return false;
    answered.swap(opening_);  // the driver opens its own later
    const bool done = coordinator_->hand_off(h);
    answered.swap(opening_);
    if (!done) return false;
  }
  while (const auto l = answered.pop()) let_go(*l);
  return true;
}

bool client_runtime::want(std::shared_ptr<acquisition> w, afterwards next) {
  if (next == afterwards::waits && join(w)) return true;
  submit([w = std::move(w)](coordinator& d) { d.want(w); }, next);
  return false;
}

void client_runtime::cancel(std::shared_ptr<revocable> r, errc why) noexcept {
  {
    const std::lock_guard lock{inbox_mutex_};
    if (ended_ || r->called_off) return;  // a coordinator that has ended has answered all calls
    r->called_off = why;
    r->called_off_before = std::move(called_off_);
    called_off_ = std::move(r);
  }
  see_to_it(afterwards::returns);
}

void client_runtime::give_back(hold_ptr h, release_reply told, afterwards next) {
  h->noted.reset();
  if (!told && hand_off(h)) return;
  submit([h = std::move(h), told = std::move(told)](coordinator& d) mutable { d.give_back(h, std::move(told)); }, next);
}

void client_runtime::confirm(hold_ptr h, confirm_reply told, afterwards next) {
  submit([h = std::move(h), told = std::move(told)](coordinator& d) mutable { d.confirm(h, std::move(told)); }, next);
}

void client_runtime::convert(std::shared_ptr<change> c, afterwards next) {
  submit([c = std::move(c)](coordinator& d) { d.convert(c); }, next);
}

void client_runtime::observe(std::shared_ptr<observer> o) {
  submit([o = std::move(o)](coordinator& d) { d.observe(o); }, afterwards::returns);
}

void client_runtime::forget(std::shared_ptr<observer> o) {
  submit([o = std::move(o)](coordinator& d) { d.forget(o); }, afterwards::returns);
}

// While it lives, this thread is inside the user's executor. The executor may run its argument at once while our caller is
// inside the engine, where a callback must not destroy the client or wait for another call.
class client_runtime::handing_over {
 public:
  handing_over() noexcept : before_(std::exchange(here_, true)) {}
  handing_over(const handing_over&) = delete;
  ~handing_over() { here_ = before_; }
  static bool here() noexcept { return static_cast<bool>(here_); }

 private:
  static thread_local constinit thread_mark here_;
  const own_thread_scope scope_;
  const thread_mark before_;
};
thread_local constinit thread_mark client_runtime::handing_over::here_;

// The function that the user's executor gets, and may copy. If the last copy is destroyed and none was called, the executor
// has dropped it, as a loop that has ended does.
class client_runtime::executor_task {
 public:
  executor_task(std::weak_ptr<client_runtime> home, std::shared_ptr<completion> c) noexcept
      : home_(std::move(home)), what_(std::move(c)) {}
  executor_task(const executor_task&) = delete;
  ~executor_task() {
    if (!born_.forked() && !what_->is_on_its_way()) what_->left_uncalled();
  }
  void call() const {
    if (!handing_over::here()) return what_->run_once();
    if (const auto h = home_.lock()) return h->run_on_own_thread(what_);
    if (what_->enters_a_line()) late_line::of_nobody().run_soon(what_);
  }

 private:
  const birth born_;
  const std::weak_ptr<client_runtime> home_;
  const std::shared_ptr<completion> what_;
};

void client_runtime::complete(std::function<void()> f) {
  if (forked()) return f();
  complete(std::make_shared<plain_completion>(std::move(f)));
}

// If the user's executor throws (no memory, or no thread), the completion runs on the client's own thread: the driver may
// be a caller, which must not be delayed or see the exception.
void client_runtime::complete(std::shared_ptr<completion> c) {
  if (forked()) return c->run_once();
  if (!parts_.completions) return run_on_own_thread(std::move(c));
  std::shared_ptr<const executor_task> mine;
  const handing_over now;
  try {
    mine = std::make_shared<executor_task>(weak_from_this(), c);
    parts_.completions([mine] { mine->call(); });
  } catch (...) {
    run_on_own_thread(std::move(c));
  }
}

void client_runtime::report(event&& e) noexcept {
  try {
    if (auto deliver = events_->enter(std::move(e))) complete(std::move(deliver));
  } catch (const std::bad_alloc&) {  // counted as left out
  }
}

void client_runtime::run_on_own_thread(std::shared_ptr<completion> c) {
  if (!c->enters_a_line()) return;
  if (!watch_->run_soon(c)) late_->run_soon(std::move(c));  // the client was closed
}

// ---- what the engine tells

void client_runtime::up(const engine::server_facts& facts) {
  {
    const std::lock_guard in{coordinator_mutex_};
    coordinator_->up(facts);
  }
  std::lock_guard lock{state_mutex_};
  ready_ = true;
  trouble_ = {};
  told_ = {facts, parts_.clock->wall()};
  state_changed_.notify_all();
}

void client_runtime::down(const engine::failure& f) {
  {
    const std::lock_guard in{coordinator_mutex_};
    coordinator_->down(f);
  }
  if (parts_.log) parts_.log(log_level::warning, f.words);
  std::lock_guard lock{state_mutex_};
  trouble_ = to_public(f);
  if (trouble_ == errc::refused) state_changed_.notify_all();
}

// ---- life and death

tyer::failure client_runtime::wait_ready(std::chrono::milliseconds at_most) {
  if (on_own_thread) return on_a_thread_of_tyer();
  std::unique_lock lock{state_mutex_};
  state_changed_.wait_for(lock, at_most, [this] { return ready_ || closed() || trouble_ == errc::refused; });
  if (closed()) return errc::closed;
  if (ready_) return {};
  return trouble_ ? trouble_ : tyer::failure{errc::unavailable};
}

void client_runtime::expect_ready(std::shared_ptr<readiness> h) {
  submit(
      [h = std::move(h), this](coordinator& d) {
        if (d.closed()) return h->answer(errc::closed);  // nobody may be driving any more
        readiness_asked_.push_back(h);
      },
      afterwards::returns);
}

// Called by the driver. Returns the earliest limit of those that still wait.
lease::time_point client_runtime::answer_readiness() noexcept {
  if (readiness_asked_.empty()) return lease::time_point::max();
  const auto now = parts_.clock->now();
  tyer::failure news;
  bool known = true;
  {
    const std::lock_guard lock{state_mutex_};
    if (closed()) {
      news = errc::closed;
    } else if (!ready_) {
      known = trouble_ == errc::refused;  // waiting does not help if the server refuses the login
      news = trouble_ ? same(trouble_) : tyer::failure{errc::unavailable};
    }
  }
  auto first = lease::time_point::max();
  std::erase_if(readiness_asked_, [&](const std::shared_ptr<readiness>& h) {
    if (!h->over && (known || h->limit <= now)) h->answer(same(news));
    if (!h->over) first = std::min(first, h->limit);
    return h->over;
  });
  return first;
}

client_runtime::told_facts client_runtime::facts() {
  const std::lock_guard lock{state_mutex_};
  return told_;
}

bool client_runtime::close(std::chrono::milliseconds at_most) {
  if (forked()) return false;
  if (events_) events_->end();  // those that wait are dropped: threads that end call what waits for them
  if (!closed_.exchange(true)) see_to_it(afterwards::returns);
  std::unique_lock lock{state_mutex_};
  state_changed_.notify_all();  // wakes wait_ready()
  if (!on_own_thread) state_changed_.wait_for(lock, at_most, [this] { return drained_ || shut_; });
  const bool all = drained_;
  const bool again = std::exchange(shut_, true);
  state_changed_.notify_all();
  lock.unlock();
  // Who comes second waits too: a callback may have been first, and the next thing after this call may be the destructor.
  if (!again || !on_own_thread) end_threads();
  return all;
}

void client_runtime::end_threads() {
  const std::lock_guard one_after_the_other{ending_mutex_};
  stopping_.store(true, std::memory_order_seq_cst);
  if (thread_.joinable()) {
    parts_.engine->wake();
    baton_.want_io();
    if (thread_.get_id() != std::this_thread::get_id()) thread_.join();
  }
  watch_->stop();
}

std::size_t client_runtime::waiting_for(std::string_view name) {
  const std::lock_guard in{coordinator_mutex_};
  return coordinator_->waiting_for(name);
}

lease::time_point client_runtime::look() {
  if (closed()) return lease::time_point::max();
  struct glance {
    std::atomic<bool> done{false};
    lease::time_point next = lease::time_point::max();
  };
  const auto mine = std::make_shared<glance>();
  // The first task makes the driver check the time; the second runs after the driver has served what was due.
  submit([](coordinator&) {}, afterwards::returns);
  submit(
      [mine, this](coordinator& d) {
        // A closed coordinator may have no driver any more, and then must not be touched from here.
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
      afterwards::returns);
  mine->done.wait(false, std::memory_order_acquire);
  return std::min(mine->next, watch_->look());
}

}  // namespace tyer::runtime
