// Calls an observer's callback, one call at a time, where completions run, and never after it was stopped. A change that is
// not reported before a newer one is dropped: however slow a callback is, at most one change waits for it.
#pragma once

#include "runtime/client_runtime.hpp"
#include "runtime/observer.hpp"

#include <tyer/observation.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <variant>

namespace tyer {
inline namespace v1 {
namespace detail {

class observation_state : public std::enable_shared_from_this<observation_state> {
 public:
  // Examines a read, on the coordinator's thread. Returns the call to make, or nothing if nothing changed. With
  // `in_any_case` it always returns one, since the read before failed.
  using look = std::function<std::function<void()>(const engine::page&, bool in_any_case)>;

  observation_state(std::shared_ptr<runtime::client_runtime> h, look l, look_failed f)
      : home_(std::move(h)), look_(std::move(l)), failed_(std::move(f)) {}

  struct terms {
    bool waiters = true;
    std::chrono::milliseconds every{}, apart{};
  };
  void start(std::string name, const terms& t);
  // Never fails: when memory is exhausted, the coordinator learns of it at its next read.
  void stop() noexcept;

 private:
  class turn;

  using sight = std::variant<engine::page, engine::failure>;
  std::function<void()> news_in(const sight& s);
  bool on_look(const sight& s);  // false: stopped
  class news;

  void tell_soon();
  void tell();
  void not_told() noexcept;

  std::shared_ptr<runtime::client_runtime> home_;
  look look_;
  const look_failed failed_;
  std::shared_ptr<runtime::observer> observer_;

  std::mutex mutex_;
  std::condition_variable idle_;
  std::function<void()> untold_;  // the latest
  std::error_code blind_;         // why the last read failed, if `failed_` was called for it
  bool stopped_ = false;
  bool asked_ = false;    // tell() is queued, and has not begun
  bool telling_ = false;  // a callback is under way
  std::thread::id teller_;
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
