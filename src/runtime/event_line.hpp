// Events on their way to the user's function: a bounded number of them, so that a slow function costs no memory.
//
// Thread safety: everything may be called from any thread.
#pragma once

#include "runtime/event.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace tyer::runtime {

class event_line : public std::enable_shared_from_this<event_line> {
 public:
  static constexpr std::size_t waiting_max = 256;
  using hook = std::function<void(event&&, std::uint64_t left_out)>;

  explicit event_line(hook h) noexcept : hook_(std::move(h)) {}

  // A function that delivers the event, and that may be copied or destroyed uncalled; then the event counts as left out. Empty: too
  // many wait. May throw std::bad_alloc.
  std::function<void()> enter(event&& e) {
    if (waiting_.fetch_add(1) >= waiting_max) {
      leave(true);
      return {};
    }
    std::shared_ptr<place> mine;
    try {
      mine = std::make_shared<place>(shared_from_this(), std::move(e));
    } catch (...) {
      leave(true);
      throw;
    }
    mine->left_out_before = left_out_.exchange(0);
    return [mine] { mine->deliver(); };
  }
  void left_out() noexcept { left_out_.fetch_add(1); }

  // None is delivered any more; one that is being delivered on another thread is not waited for.
  void end() noexcept { over_ = true; }

 private:
  struct place {
    place(std::shared_ptr<event_line> l, event&& e) noexcept : line(std::move(l)), what(std::move(e)) {}
    place(const place&) = delete;
    ~place() {
      if (!delivered) line->left_out_.fetch_add(left_out_before);
      line->leave(!delivered);
    }
    void deliver() {
      delivered = true;
      if (!line->over_) line->hook_(std::move(what), left_out_before);
    }

    std::shared_ptr<event_line> line;
    event what;
    std::uint64_t left_out_before = 0;  // since the one that entered before it
    bool delivered = false;
  };

  void leave(bool uncalled) noexcept {
    waiting_.fetch_sub(1);
    if (uncalled) left_out();
  }

  const hook hook_;
  std::atomic<std::size_t> waiting_{0};
  std::atomic<std::uint64_t> left_out_{0};
  std::atomic<bool> over_{false};
};

}  // namespace tyer::runtime
