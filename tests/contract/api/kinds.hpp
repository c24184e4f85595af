// The kinds of lock that the contract is asked of. A new primitive joins by a line in `exclusive_kinds`, and in
// `lockable_kinds` if it has the standard face; a test never asks which kind it has.
#pragma once

#include <tyer/detail/async.hpp>
#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string_view>
#include <utility>

namespace contract {

struct mutex_kind {
  using type = tyer::mutex;
  static type make(const tyer::client& c, std::string_view name, const tyer::lock_options& o) {
    return type{c, name, o};
  }
};

using exclusive_kinds = ::testing::Types<mutex_kind>;
using lockable_kinds = ::testing::Types<mutex_kind>;

// The answer of an asynchronous acquire.
struct answer {
  tyer::failure why;
  tyer::hold hold;
};

// Calls are made in the order of these calls, so waiters without a thread of their own queue in a known order.
template <class Lock, class Then>
std::shared_ptr<tyer::detail::pending_acquire> acquire_then(const Lock& lock, Then then,
                                                            tyer::detail::acquire_terms terms = {}) {
  struct handler final : tyer::detail::acquire_handler {
    explicit handler(Then f) : then(std::move(f)) {}
    void done(tyer::failure f, tyer::hold h) override { then(answer{std::move(f), std::move(h)}); }
    Then then;
  };
  return tyer::detail::start_acquire(lock, terms, std::make_unique<handler>(std::move(then)));
}

struct started {
  std::future<answer> done;
  std::shared_ptr<tyer::detail::pending_acquire> handle;
};
template <class Lock>
started acquire_later(const Lock& lock, tyer::detail::acquire_terms terms = {}) {
  auto promise = std::make_shared<std::promise<answer>>();
  auto done = promise->get_future();
  auto handle = acquire_then(lock, [promise](answer a) { promise->set_value(std::move(a)); }, terms);
  return {std::move(done), std::move(handle)};
}

}  // namespace contract
