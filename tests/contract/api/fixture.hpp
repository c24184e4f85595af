// What every test of the contract stands on: an engine that somebody has started (TYER_URI), and fresh names in it.
//
// No test sleeps and hopes: it waits for something that can be seen, and only a failure waits as long as `patience`.
#pragma once

#include "contract/api/kinds.hpp"
#include "contract/api/seam.hpp"
#include "contract/api/server.hpp"
#include "took.hpp"

#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace contract {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using tyer::errc;

// Far longer than anything here takes.
inline constexpr auto patience = 20s;

// How much later than promised something may happen on a machine that is busy with much else. What goes wrong in these tests
// comes many times later, or never.
inline constexpr auto slack = 5s;

inline bool eventually(const std::function<bool()>& happened, steady_clock::duration within = patience) {
  const auto limit = steady_clock::now() + within;
  auto pause = steady_clock::duration{1ms};
  while (!happened()) {
    if (steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min<steady_clock::duration>(2 * pause, 16ms);  // it may ask a server, which has others to serve
  }
  return true;
}

// A blocking call on a thread of its own.
template <class F>
auto in_background(F f) {
  return std::async(std::launch::async, std::move(f));
}

// Its result, or the end of the test.
template <class T>
T soon(std::future<T>& f, steady_clock::duration within = patience) {
  if (f.wait_for(within) != std::future_status::ready) throw std::runtime_error("it did not come in time");
  return f.get();
}
template <class T>
T soon(std::future<T>&& f, steady_clock::duration within = patience) {
  return soon(f, within);
}

inline bool wait_for_loss(const std::stop_token& lost, steady_clock::duration within = patience) {
  return eventually([&] { return lost.stop_requested(); }, within);
}

// Remembers when it was made.
class stopwatch {
 public:
  steady_clock::duration elapsed() const { return steady_clock::now() - start_; }

 private:
  steady_clock::time_point start_ = steady_clock::now();
};

template <class F>
std::error_code code_of(F f) {
  try {
    f();
  } catch (const tyer::error& e) {
    return e.code();
  }
  return {};
}

template <class F>
std::string words_of(F f) {
  try {
    f();
  } catch (const tyer::error& e) {
    return e.words();
  }
  return {};
}

// For tests that disturb the server behind the engine: an engine inside this process has none.
inline constexpr const char* no_server = "no server of our own behind this engine (TYER_ENGINE_ID)";

// For tests of what not every engine can do.
inline constexpr const char* no_queue = "this engine has no queue";
inline constexpr const char* no_token = "this engine has no tokens";
inline constexpr const char* no_owners = "this engine does not keep who holds a lock and where";
inline constexpr const char* no_such_lock = "this engine has no lock of this kind";
inline constexpr const char* no_lock_delay = "this engine has no lock_delay";

class fixture : public ::testing::Test {
 protected:
  static const tyer::engine::capabilities& can() {
    static const auto all = engine_can(engine_uri());
    return all;
  }

  // A client that has reached the engine. Unless a test is about limits, an answer may take its time.
  static tyer::client connect(tyer::client_options options = {.request_timeout = slack}) {
    tyer::client c{engine_uri(), std::move(options)};
    if (!c.wait_ready(patience)) throw std::runtime_error("the engine does not answer");
    return c;
  }

  // The same if the engine is able to do what the test asks of it. Else SetUp() skips the test, but the locks of its fixture
  // are made before: in this process.
  static tyer::client connect_if(bool able) { return able ? connect() : tyer::client{"memory://skipped"}; }

  // A name that nobody else uses, the same for the whole test.
  const std::string& name() const { return name_; }

  // What the engine has for the name, seen past the public API.
  seam& raw() {
    if (!raw_) raw_.emplace(engine_uri());
    return *raw_;
  }
  ::testing::AssertionResult queue_has(std::size_t waiters) {
    if (eventually([&] { return raw().waiting(name()).size() == waiters; })) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "not " << waiters << " in the queue:" << who_is_there();
  }

  std::string who_is_there() {
    std::string text;
    for (const auto& e : raw().entries(name())) {
      text += e.what == tyer::engine::fate::waiting ? "\n  waits, " : "\n  holds, ";
      text += std::to_string(e.left.count()) + " ms left: " + e.owner;
    }
    return text.empty() ? " nobody is there" : text;
  }

  server engine;

 private:
  std::string name_ = fresh_name();
  std::optional<seam> raw_;
};

// The same questions for a kind of lock: each test asks `this->make(client)` for one on the test's name.
template <class Kind>
class contract_of : public fixture {
 protected:
  void SetUp() override {
    if (!Kind::able(can())) GTEST_SKIP() << no_such_lock;
  }

  auto make(const tyer::client& c, tyer::lock_options o = {}) const { return Kind::make(c, name(), o); }
  auto make_as(const tyer::client& c, std::string_view other, tyer::lock_options o = {}) const {
    return Kind::make(c, other, o);
  }

  // Breaks the hold of the test's lock, past the public API.
  void break_it() {
    for (const auto& n : Kind::names(name())) {
      const auto held = raw().holding(n);
      ASSERT_EQ(held.size(), 1U);
      ASSERT_EQ(raw().evict(held.front()), tyer::engine::fate::holding);
    }
  }
};

}  // namespace contract
