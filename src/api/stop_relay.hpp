// One stop_token for several: it is requested with the first of them.
#pragma once

#include "runtime/fork.hpp"

#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

// Its end does not wait for a callback that runs on another thread: that thread then removes the callbacks.
class stop_relay {
 public:
  stop_relay() = default;
  stop_relay(stop_relay&&) = delete;
  // In a forked child a callback may seem to run for ever, on a thread that exists only in the parent: leak them.
  ~stop_relay() { birth_.forked() ? static_cast<void>(body_.release()) : (*body_)->end(); }

  void listen(std::stop_token to) { (*body_)->listen(std::move(to)); }
  std::stop_token first() const noexcept { return (*body_)->first.get_token(); }

 private:
  class body : public std::enable_shared_from_this<body> {
   public:
    void listen(std::stop_token to) { heard_.emplace_back(std::move(to), tell{this}); }
    void end() noexcept {
      std::unique_lock lock{mutex_};
      over_ = true;
      if (telling_ != 0) return;
      lock.unlock();
      heard_.clear();  // a callback that begins now returns at once, so this does not block
    }

    std::stop_source first;

   private:
    struct tell {
      body* to;
      void operator()() const {
        if (const auto kept = to->weak_from_this().lock()) kept->pass_on();
      }
    };

    void pass_on() noexcept {
      std::unique_lock lock{mutex_};
      if (over_) return;
      ++telling_;
      lock.unlock();
      first.request_stop();
      lock.lock();
      if (--telling_ != 0 || !over_) return;
      lock.unlock();
      heard_.clear();  // also the callback that runs this: that is allowed and does not block
    }

    std::mutex mutex_;
    int telling_ = 0;
    bool over_ = false;
    std::list<std::stop_callback<tell>> heard_;
  };

  const runtime::birth birth_;
  std::unique_ptr<const std::shared_ptr<body>> body_ =
      std::make_unique<const std::shared_ptr<body>>(std::make_shared<body>());
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
