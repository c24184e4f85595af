#include "runtime/late_line.hpp"

#include "runtime/own_thread.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace tyer::runtime {

namespace {

// The threads of all late lines of this process. Never destroyed: they may outlive everything else.
class late_threads {
 public:
  static late_threads& all() {
    static std::atomic<late_threads*> current{nullptr};
    return *of_this_process(current);
  }
  // Registers with atexit again after each wait, so that a call from a later static destructor is waited for too.
  void one_more() {
    const std::lock_guard lock{mutex_};
    if (!registered_ && std::atexit([] { all().wait(); }) != 0) throw std::bad_alloc{};
    registered_ = true;
    ++running_;
  }
  void one_less() noexcept {
    const std::lock_guard lock{mutex_};
    --running_;
    changed_.notify_all();
  }

  // An object of which a forked child needs its own, since the child does not have the threads.
  template <class T>
  static T* of_this_process(std::atomic<T*>& current) {
    T* now = current.load(std::memory_order_acquire);
    while (now == nullptr || now->born.forked()) {
      auto fresh = std::make_unique<T>();
      fresh->of_the_parent = now;
      if (current.compare_exchange_strong(now, fresh.get(), std::memory_order_acq_rel)) now = fresh.release();
    }
    return now;
  }
  const birth born;
  const void* of_the_parent = nullptr;  // a forked child does not touch it

 private:
  void wait() noexcept {
    std::unique_lock lock{mutex_};
    registered_ = false;
    if (on_own_thread) return;  // exit() in a callback
    changed_.wait_for(lock, late_line::end_waits, [this] { return running_ == 0; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t running_ = 0;
  bool registered_ = false;
};

}  // namespace

void late_line::run_soon(std::shared_ptr<completion> c) {
  const std::lock_guard lock{mutex_};
  if (!serves_) {
    auto& threads = late_threads::all();
    threads.one_more();
    try {
      std::thread{[self = shared_from_this()] { self->serve(); }}.detach();
    } catch (...) {
      threads.one_less();
      throw std::bad_alloc{};
    }
  }
  serves_ = true;
  tasks_.push(std::move(c));
}

void late_line::serve() {
  on_own_thread = true;
  struct leaving {
    late_threads& from;
    ~leaving() { from.one_less(); }
  };
  const leaving at_the_end{late_threads::all()};
  std::unique_lock lock{mutex_};
  while (!tasks_.empty()) {
    auto task = tasks_.pop();
    lock.unlock();
    task->run_once();
    born_.end_the_child();
    task.reset();
    lock.lock();
  }
  serves_ = false;
}

// Never destroyed, since its last user is not known. A forked child does not have its thread, and gets a line of its own.
late_line& late_line::of_nobody() {
  struct place {
    const birth born;
    const std::shared_ptr<late_line> line = std::make_shared<late_line>();
    const void* of_the_parent = nullptr;
  };
  static std::atomic<place*> current{nullptr};
  return *late_threads::of_this_process(current)->line;
}

}  // namespace tyer::runtime
