#include "runtime/late_line.hpp"

#include "runtime/fork.hpp"
#include "runtime/own_thread.hpp"

#include <atomic>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace tyer::runtime {

void late_line::run_soon(std::shared_ptr<completion> c) {
  const std::lock_guard lock{mutex_};
  try {
    if (!serves_) std::thread{[self = shared_from_this()] { self->serve(); }}.detach();
  } catch (const std::system_error&) {
    throw std::bad_alloc{};
  }
  serves_ = true;
  tasks_.push(std::move(c));
}

void late_line::serve() {
  on_own_thread = true;
  std::unique_lock lock{mutex_};
  while (!tasks_.empty()) {
    auto task = tasks_.pop();
    lock.unlock();
    task->run_once();
    task.reset();
    lock.lock();
  }
  serves_ = false;
}

// Never destroyed, since nobody knows who comes last; a forked child, in which its thread is not, has one of its own.
late_line& late_line::of_nobody() {
  struct place {
    const birth born;
    const std::shared_ptr<late_line> line = std::make_shared<late_line>();
  };
  static std::atomic<place*> current{nullptr};
  place* now = current.load(std::memory_order_acquire);
  while (now == nullptr || now->born.forked()) {
    auto fresh = std::make_unique<place>();
    if (current.compare_exchange_strong(now, fresh.get(), std::memory_order_acq_rel)) now = fresh.release();
  }
  return *now->line;
}

}  // namespace tyer::runtime
