// A queue of completions, first in, first out. Pushing a completion allocates nothing; pushing a plain function does.
#pragma once

#include "core/function.hpp"
#include "runtime/chain.hpp"

#include <tyer/detail/async.hpp>

#include <utility>

namespace tyer::runtime {

using detail::completion;

class plain_completion final : public completion {
 public:
  explicit plain_completion(core::function<void()> f) noexcept : f_(std::move(f)) {}

 private:
  void run() override { f_(); }

  core::function<void()> f_;
};

using completion_line = chain<completion>;

}  // namespace tyer::runtime
