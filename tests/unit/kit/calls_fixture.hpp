// Calls on a clock that is moved by hand, and what their callers were told.
#pragma once

#include "engines/kit/calls.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tyer::kit {

using namespace std::chrono_literals;
using core::fate;

struct calls_test : ::testing::Test {
  static constexpr milliseconds timeout = 2s;

  // One call, and what it was told.
  struct caller {
    int times = 0;
    time_point sent;
    result<fate> said;
    std::function<void()> then;  // done by its reply
    std::weak_ptr<int> reply;    // as long as the reply is kept
    call_ptr<fate> is;

    const failure* wrong() const { return std::get_if<failure>(&said); }
  };
  using caller_ptr = std::shared_ptr<caller>;

  caller_ptr make(std::function<void()> then = {}) {
    auto c = std::make_shared<caller>();
    c->then = std::move(then);
    auto kept = std::make_shared<int>();
    c->reply = kept;
    c->is = all.begin<fate>(now, [c = c.get(), kept](engine::outcome<fate>&& o) {
      ++c->times;
      c->sent = o.sent;
      c->said = std::move(o.result);
      if (c->then) c->then();
    });
    callers.push_back(c);
    return c;
  }
  void answer(caller& c, fate f = fate::holding) { all.answer<fate>(*c.is, f); }
  void fail(caller& c) { all.fail(*c.is, no(why::refused, errc::lost, "no such hold")); }
  template <class F>
  void step(F what) {
    all.step(now, what);
  }
  void step() {
    all.step(now, [] {});
  }
  // Time goes on, and run() comes by.
  void pass(milliseconds d) {
    now += d;
    all.step(now, [&] { all.on_time(now); });
  }

  time_point now{1000s};
  std::vector<caller_ptr> callers;  // outlive the calls
  calls all{timeout};
};

}  // namespace tyer::kit
