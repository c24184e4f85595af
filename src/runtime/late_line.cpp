#include "runtime/late_line.hpp"

#include "runtime/fork.hpp"
#include "runtime/own_thread.hpp"

#include <atomic>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace tyer::runtime {

void late_line::run_soon(core::function<void()> task) {
  core::function<void()> refused;  // destroyed outside of the lock: what it owns is the user's
  const std::lock_guard lock{mutex_};
  tasks_.push_back(std::move(task));
  if (serves_) return;
  try {
    std::thread{[self = shared_from_this()] { self->serve(); }}.detach();
    serves_ = true;
  } catch (const std::system_error&) {
    refused = std::move(tasks_.back());
    tasks_.pop_back();
    throw std::bad_alloc{};
  }
}

void late_line::serve() {
  on_own_thread = true;
  std::unique_lock lock{mutex_};
  while (!tasks_.empty()) {
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
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
