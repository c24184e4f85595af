// Telling what an observer has seen, one thing at a time, on the thread where completions run, and never after it was stopped.
// What was not told yet when there is something newer is never told: however slow a callback is, one thing waits for it.
#pragma once

#include "runtime/house.hpp"
#include "runtime/observer.hpp"

#include <tyer/observation.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace tyer {
inline namespace v1 {
namespace detail {

class observation_state : public std::enable_shared_from_this<observation_state> {
 public:
  // Looks at what there is, on the desk's thread. Gives what to tell of it, or nothing if it is as before.
  using look = std::function<std::function<void()>(const engine::page&)>;

  observation_state(std::shared_ptr<runtime::house> h, look l) : home_(std::move(h)), look_(std::move(l)) {}

  struct terms {
    bool waiters = true;
    std::chrono::milliseconds every{}, apart{};
  };
  void start(std::string name, const terms& t);
  // Never fails: without memory the desk is told when it has looked the next time.
  void stop() noexcept;

 private:
  class turn;

  bool on_look(const engine::page& p);  // false: nobody looks any more
  void tell_soon();
  void tell();

  std::shared_ptr<runtime::house> home_;
  look look_;
  std::shared_ptr<runtime::observer> observer_;

  std::mutex mutex_;
  std::condition_variable idle_;
  std::function<void()> untold_;  // the latest
  bool stopped_ = false;
  bool asked_ = false;    // tell() was handed over, and has not begun
  bool telling_ = false;  // a callback is under way
  std::thread::id teller_;
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
