// A client beside others, of which one allocation after the other fails.
#pragma once

#include "contract/no_memory/failing_new.hpp"
#include "took.hpp"

#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <thread>

namespace tyer::test {

using namespace std::chrono_literals;

// Each n for as long as there is an n-th allocation; now and then fewer are made than the last time. On a busy machine a call can
// be over before the client's threads have had a turn: nothing has been shown as long as none failed at all.
inline constexpr int misses_max = 3, misses_at_first_max = 30;

struct no_memory : ::testing::TestWithParam<whose> {
  static std::string uri() {
    const char* given = std::getenv("TYER_URI");
    return given != nullptr ? given : "memory://no-memory";
  }
  static client_options quick() {
    client_options o;
    o.request_timeout = 500ms;
    return o;
  }
  // Of this run: servers are shared by the tests of one program.
  static std::string fresh(const std::string& what) {
    static std::atomic<int> count{0};
    return what + '-' + std::to_string(++count);
  }

  client c{uri(), quick()}, judge{uri(), quick()};
  mutex kept{c, fresh("kept"), {.ttl = 4s}}, warm{c, fresh("warm")};
  hold k;
  int missed = 0;  // one after the other, but no more than there are pauses

  void SetUp() override {
    ASSERT_TRUE(c.wait_ready());
    ASSERT_TRUE(judge.wait_ready());
    k = kept.acquire();
  }

  // A caller drives the client right after another call; else the client's own threads do, which on a busy machine takes a
  // while: longer after a miss.
  void settle(int misses) {
    constexpr std::chrono::milliseconds pauses[misses_max] = {3ms, 30ms, 200ms};
    missed = std::min(misses, misses_max - 1);
    if (GetParam() == whose::clients_threads) return std::this_thread::sleep_for(pauses[missed]);
    failure why;
    const hold h = warm.try_acquire(why);
  }

  // Fails the n-th allocation of `call` for every n, and looks at what is left each time.
  void for_every_allocation(const std::string& name, const std::function<void()>& call,
                            const std::function<void()>& afterwards = {}) {
    int failed = 0;
    for (int n = 1, misses = 0; misses < (failed > 0 ? misses_max : misses_at_first_max); n = failed > 0 ? n + 1 : 1) {
      SCOPED_TRACE("allocation " + std::to_string(n));
      settle(misses);
      bool hit = false;
      {
        const failing_new f{GetParam(), n};
        call();
        hit = f.failed();
      }
      failed += hit ? 1 : 0;
      misses = hit ? 0 : misses + 1;
      if (afterwards) afterwards();
      the_client_lives();
      nothing_is_left_of(name);
      if (HasFatalFailure()) return;
    }
    std::cout << "failed_allocations=" << failed << '\n';
    EXPECT_GT(failed, 0) << "then this shows nothing";
  }

  void the_client_lives() {
    failure why;
    const hold h = mutex{c, fresh("other")}.try_acquire_for(why, 10s);
    ASSERT_TRUE(h) << why.code.message() << ' ' << why.words;
    ASSERT_TRUE(k.valid()) << "a hold that has nothing to do with it";
  }
  void nothing_is_left_of(const std::string& name) {
    failure why;
    const hold h = mutex{judge, name}.try_acquire_for(why, 20s);
    ASSERT_TRUE(h) << "the lock is stuck: " << why.code.message() << ' ' << why.words;
  }
  // Whoever has it has it alone.
  void has_it_alone(const hold& h) {
    failure why;
    if (h) {
      ASSERT_TRUE(h.valid());
      ASSERT_FALSE(took(mutex{judge, std::string{h.name()}}.try_acquire(why)));
    }
  }
};

// Only what it is about may go wrong.
inline void expect_no_memory(const failure& why) {
  EXPECT_TRUE(!why || why.code == std::errc::not_enough_memory || why.code == errc::unavailable ||
              why.code == errc::outcome_unknown)
      << why.code.message() << ' ' << why.words;
}

inline std::string name_of(const ::testing::TestParamInfo<whose>& p) {
  return p.param == whose::calling_thread ? "the_caller" : "the_client";
}

}  // namespace tyer::test
