#include "runtime/herald.hpp"

#include "runtime/fork.hpp"
#include "runtime/hold_state.hpp"
#include "runtime/own_thread.hpp"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>

namespace tyer::runtime {

class herald::body {
 public:
  hush be_quiet() noexcept { return hush{mutex_}; }
  void tell(const hold_ptr& h, news what, const hush&) noexcept;
  bool run_soon(const std::shared_ptr<completion>& c) noexcept;
  bool wants_help() noexcept;
  void no_help() noexcept;  // the helper thread could not be started
  bool anybody_waits() noexcept;
  void settle();
  void stop();

  void serve();
  void help();

  bool on_its_thread() const noexcept { return serves_ == this; }

 private:
  hold_ptr pop() noexcept;
  void tell_next(std::unique_lock<std::mutex>& lock) noexcept;
  void run_next(std::unique_lock<std::mutex>& lock);
  bool idle() const noexcept { return !first_ && tasks_.empty() && busy_ == 0; }

  static thread_local const body* serves_;

  const birth born_;
  std::mutex mutex_;
  std::condition_variable changed_, settled_;
  hold_ptr first_;  // to be told, in the order they came
  detail::hold_state* last_ = nullptr;
  completion_line tasks_;
  std::size_t busy_ = 0, helpers_ = 0;
  bool stopping_ = false, ended_ = false;
};

thread_local const herald::body* herald::body::serves_ = nullptr;

void herald::body::tell(const hold_ptr& h, news what, const hush&) noexcept {
  auto& t = h->telling;
  t.what |= static_cast<unsigned char>(what);
  if (std::exchange(t.waits, true)) return;
  t.since = clock::now();
  (last_ != nullptr ? last_->telling.behind : first_) = h;
  last_ = h.get();
  changed_.notify_one();
}

hold_ptr herald::body::pop() noexcept {
  auto h = std::move(first_);
  first_ = std::move(h->telling.behind);
  if (!first_) last_ = nullptr;
  h->telling.waits = false;
  return h;
}

bool herald::body::run_soon(const std::shared_ptr<completion>& c) noexcept {
  const std::lock_guard lock{mutex_};
  if (ended_) return false;
  tasks_.push(c);
  changed_.notify_one();
  return true;
}

bool herald::body::wants_help() noexcept {
  const std::lock_guard lock{mutex_};
  if (!first_ || helpers_ == helpers_max || clock::now() - first_->telling.since < patience) return false;
  ++helpers_;
  return true;
}

void herald::body::no_help() noexcept {
  const std::lock_guard lock{mutex_};
  --helpers_;
}

bool herald::body::anybody_waits() noexcept {
  const std::lock_guard lock{mutex_};
  return first_ != nullptr;
}

void herald::body::tell_next(std::unique_lock<std::mutex>& lock) noexcept {
  auto h = pop();
  const auto what = std::exchange(h->telling.what, 0);
  ++busy_;
  lock.unlock();
  if ((what & static_cast<unsigned char>(news::lost)) != 0) h->tell_lost();
  if ((what & static_cast<unsigned char>(news::revoked)) != 0) h->tell_revoked();
  born_.end_the_child();
  h.reset();
  lock.lock();
  --busy_;
}

void herald::body::run_next(std::unique_lock<std::mutex>& lock) {
  auto task = tasks_.pop();
  ++busy_;
  lock.unlock();
  task->run_once();
  born_.end_the_child();
  task.reset();
  lock.lock();
  --busy_;
}

void herald::body::serve() {
  on_own_thread = true;
  serves_ = this;
  std::unique_lock lock{mutex_};
  for (;;) {
    if (first_) {
      tell_next(lock);
    } else if (!tasks_.empty()) {
      run_next(lock);
    } else if (stopping_) {
      ended_ = true;
      settled_.notify_all();
      return;
    } else {
      settled_.notify_all();
      changed_.wait(lock);
    }
  }
}

void herald::body::help() {
  on_own_thread = true;
  serves_ = this;
  std::unique_lock lock{mutex_};
  while (first_) tell_next(lock);
  --helpers_;
  settled_.notify_all();
}

void herald::body::settle() {
  std::unique_lock lock{mutex_};
  settled_.wait(lock, [this] { return idle(); });
}

void herald::body::stop() {
  std::unique_lock lock{mutex_};
  stopping_ = true;
  changed_.notify_all();
  if (!on_its_thread()) settled_.wait(lock, [this] { return ended_ && helpers_ == 0; });
}

herald::herald() : body_(std::make_shared<body>()), thread_([b = body_] { b->serve(); }) {}

herald::~herald() {
  stop();
  if (thread_.joinable()) thread_.detach();
}

void herald::tell(const hold_ptr& h, news what) noexcept { tell(h, what, be_quiet()); }
herald::hush herald::be_quiet() noexcept { return body_->be_quiet(); }
void herald::tell(const hold_ptr& h, news what, const hush& quiet) noexcept { body_->tell(h, what, quiet); }
bool herald::run_soon(const std::shared_ptr<completion>& c) noexcept { return body_->run_soon(c); }

bool herald::look_after() noexcept {
  if (body_->wants_help()) {
    try {
      std::thread{[b = body_] { b->help(); }}.detach();
    } catch (...) {  // no memory, or too many threads: retried later
      body_->no_help();
    }
  }
  return body_->anybody_waits();
}

void herald::settle() {
  if (!body_->on_its_thread()) body_->settle();
}

void herald::stop() {
  body_->stop();
  if (thread_.joinable() && !body_->on_its_thread()) thread_.join();
}

}  // namespace tyer::runtime
