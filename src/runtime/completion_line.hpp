// Those who wait to be run, in the order they came. To stand there needs no memory, but for a plain function.
#pragma once

#include "core/function.hpp"

#include <tyer/detail/async.hpp>

#include <memory>
#include <utility>

namespace tyer::runtime {

using detail::completion;

class plain_completion final : public completion {
 public:
  explicit plain_completion(core::function<void()> f) noexcept : f_(std::move(f)) {}
  void run() override { f_(); }

 private:
  core::function<void()> f_;
};

// Thread safety: none.
class completion_line {
 public:
  completion_line() = default;
  completion_line(const completion_line&) = delete;
  ~completion_line() {
    while (first_) pop();  // one after the other, however many
  }

  bool empty() const noexcept { return !first_; }
  void push(std::shared_ptr<completion> c) noexcept {
    completion* const last = c.get();
    (last_ != nullptr ? last_->behind : first_) = std::move(c);
    last_ = last;
  }
  std::shared_ptr<completion> pop() noexcept {
    auto c = std::move(first_);
    first_ = std::move(c->behind);
    if (!first_) last_ = nullptr;
    return c;
  }

 private:
  std::shared_ptr<completion> first_;
  completion* last_ = nullptr;
};

}  // namespace tyer::runtime
