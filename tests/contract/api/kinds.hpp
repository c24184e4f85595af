// The kinds of lock that the contract is asked of: a test never asks which kind it has.
//
//   list            | what they can do                                                  | joins by
//   ----------------+-------------------------------------------------------------------+-----------------------------
//   exclusive_kinds | acquirable, one holder at a time: blocking and asynchronous calls | a line in it
//   blocking_kinds  | those, and what has acquire() and its kin but no asynchronous call | a line in it
//   lockable_kinds  | those of exclusive_kinds with the whole standard face             | a line in it
//   guarded_kinds   | anything that std::scoped_lock takes                              | a line in it
#pragma once

#include "contract/api/multi_lock.hpp"
#include "engine/engine.hpp"

#include <tyer/detail/async.hpp>
#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contract {

// One of a kind; `Lock{client, name, options}` makes it.
template <class Lock>
struct kind_of {
  using type = Lock;
  static type make(const tyer::client& c, std::string_view name, const tyer::lock_options& o) {
    return type{c, name, o};
  }
  // Whether an engine has what it needs.
  static bool able(const tyer::engine::capabilities&) { return true; }
  // What it has at the engine.
  static std::vector<std::string> names(const std::string& name) { return {name}; }
};

struct semaphore_of_one : tyer::semaphore {
  semaphore_of_one(const tyer::client& c, std::string_view name, tyer::lock_options o = {},
                   std::source_location where = std::source_location::current())
      : semaphore(c, name, 1, o, where) {}
};

// The readers' side of the standard face, for guards.
struct shared_side : private tyer::shared_mutex {
  using tyer::shared_mutex::shared_mutex;
  void lock() { lock_shared(); }
  bool try_lock() { return try_lock_shared(); }
  void unlock() noexcept { unlock_shared(); }
};

struct mutex_kind : kind_of<tyer::mutex> {};
struct shared_mutex_kind : kind_of<tyer::shared_mutex> {
  static bool able(const tyer::engine::capabilities& can) { return can.shared; }
};
struct semaphore_kind : kind_of<semaphore_of_one> {
  static bool able(const tyer::engine::capabilities& can) { return can.permits; }
};
struct election_kind : kind_of<tyer::election> {
  static bool able(const tyer::engine::capabilities& can) { return can.token; }
};
struct multi_kind : kind_of<multi_lock> {
  static std::vector<std::string> names(const std::string& name) { return three_names(name); }
};
struct recursive_kind : kind_of<tyer::recursive_mutex> {};
struct multi_mutex_kind : kind_of<guarded_multi_mutex> {};

using exclusive_kinds = ::testing::Types<mutex_kind, shared_mutex_kind, semaphore_kind, election_kind>;
using blocking_kinds = ::testing::Types<mutex_kind, shared_mutex_kind, semaphore_kind, election_kind, multi_kind>;
using lockable_kinds = ::testing::Types<mutex_kind, shared_mutex_kind>;
using guarded_kinds = ::testing::Types<mutex_kind, shared_mutex_kind, recursive_kind, multi_mutex_kind>;

template <class Lock>
using hold_of = decltype(std::declval<const Lock&>().acquire());

// The answer of an asynchronous acquire.
template <class Hold>
struct answer_with {
  tyer::failure why;
  Hold hold;
};
using answer = answer_with<tyer::hold>;

// Calls are made in the order of these calls, so waiters without a thread of their own queue in a known order.
template <class Lock, class Then>
std::shared_ptr<tyer::detail::pending_call> acquire_then(const Lock& lock, Then then,
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
  std::shared_ptr<tyer::detail::pending_call> handle;
};
inline started acquire_later(const tyer::acquirable& lock, tyer::detail::acquire_terms terms = {}) {
  auto promise = std::make_shared<std::promise<answer>>();
  auto done = promise->get_future();
  auto handle = acquire_then(lock, [promise](answer a) { promise->set_value(std::move(a)); }, terms);
  return {std::move(done), std::move(handle)};
}

// A lock without asynchronous calls gets a thread. Waiters of one client queue in no known order then.
struct started_on_a_thread {
  std::future<answer_with<multi_grip>> done;
};
inline started_on_a_thread acquire_later(const multi_lock& lock) {
  return {std::async(std::launch::async, [&lock] {
    answer_with<multi_grip> a;
    a.hold = lock.acquire(a.why);
    return a;
  })};
}

}  // namespace contract
