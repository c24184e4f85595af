// Requests stops at given times: one thread for all workers of the process.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

namespace fault {

class canceller {
 public:
  using clock = std::chrono::steady_clock;

  canceller() : thread_([this](std::stop_token end) { run(end); }) {}

  void at(clock::time_point when, std::stop_source what) {
    std::lock_guard guard{mutex_};
    due_.emplace(when, std::move(what));
    changed_.notify_one();
  }

 private:
  void run(std::stop_token end) {
    std::unique_lock guard{mutex_};
    while (!end.stop_requested()) {
      if (due_.empty()) {
        changed_.wait(guard, end, [this] { return !due_.empty(); });
      } else if (const auto next = due_.begin()->first; clock::now() < next) {
        changed_.wait_until(guard, end, next, [&] { return due_.begin()->first < next; });
      } else {
        auto node = due_.extract(due_.begin());
        guard.unlock();
        node.mapped().request_stop();  // runs the library's callback: not under our lock
        guard.lock();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::multimap<clock::time_point, std::stop_source> due_;
  std::jthread thread_;
};

}  // namespace fault
