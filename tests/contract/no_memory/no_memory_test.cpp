// Wherever an allocation fails: the call says so or does what it should, and everything else goes on. Nobody hangs, nobody
// else's hold is lost, no lock is left behind, and no two have it.
#include "contract/no_memory/failing_new.hpp"

#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <thread>

namespace tyer::test {
namespace {

using namespace std::chrono_literals;

// Each n for as long as there is an n-th allocation; now and then fewer are made than the last time.
constexpr int misses_max = 3;

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
  mutex kept{c, fresh("kept"), {.ttl = 2s}}, warm{c, fresh("warm")};
  hold k;

  void SetUp() override {
    ASSERT_TRUE(c.wait_ready());
    ASSERT_TRUE(judge.wait_ready());
    k = kept.acquire();
  }

  // A caller drives the client right after another call; else the client's own threads do.
  void settle() {
    if (GetParam() == whose::clients_threads) return std::this_thread::sleep_for(3ms);
    failure why;
    const hold h = warm.try_acquire(why);
  }

  // Fails the n-th allocation of `call` for every n, and looks at what is left each time.
  void for_every_allocation(const std::string& name, const std::function<void()>& call,
                            const std::function<void()>& afterwards = {}) {
    int failed = 0;
    for (int n = 1, misses = 0; misses < misses_max; ++n) {
      SCOPED_TRACE("allocation " + std::to_string(n));
      settle();
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
      ASSERT_FALSE((mutex{judge, std::string{h.name()}}.try_acquire(why)));
    }
  }
};

// Only what it is about may go wrong.
void expect_no_memory(const failure& why) {
  EXPECT_TRUE(!why || why.code == std::errc::not_enough_memory || why.code == errc::unavailable)
      << why.code.message() << ' ' << why.words;
}

TEST_P(no_memory, acquire) {
  const auto name = fresh("acquire");
  mutex m{c, name, {.ttl = 2s}};
  hold h;
  failure why;
  for_every_allocation(
      name, [&] { h = m.acquire(why); },
      [&] {
        expect_no_memory(why);
        has_it_alone(h);
        h = {};
      });
}

TEST_P(no_memory, acquire_and_let_go) {
  const auto name = fresh("let-go");
  mutex m{c, name, {.ttl = 2s}};
  for_every_allocation(name, [&] {
    failure why;
    const hold h = m.acquire(why);
  });
}

TEST_P(no_memory, one_try) {
  const auto name = fresh("try");
  mutex m{c, name, {.ttl = 2s}};
  hold h;
  failure why;
  for_every_allocation(
      name, [&] { h = m.try_acquire(why); },
      [&] {
        expect_no_memory(why);
        has_it_alone(h);
        h = {};
      });
}

TEST_P(no_memory, a_limited_wait_for_a_lock_that_somebody_has) {
  const auto name = fresh("timed");
  mutex m{c, name, {.ttl = 2s}}, theirs{judge, name, {.ttl = 2s}};
  hold other = theirs.acquire();
  for_every_allocation(
      fresh("free"),
      [&] {
        failure why;
        const hold h = m.try_acquire_for(why, 20ms);
        EXPECT_FALSE(h);
      },
      [&] { EXPECT_TRUE(other.valid()); });
  other = {};
  nothing_is_left_of(name);
}

TEST_P(no_memory, a_wait_that_is_called_off) {
  const auto name = fresh("cancelled");
  mutex m{c, name, {.ttl = 2s}}, theirs{judge, name, {.ttl = 2s}};
  hold other = theirs.acquire();
  for_every_allocation(fresh("free"), [&] {
    try {
      std::stop_source stop;
      const std::jthread waits{[&, token = stop.get_token()] {
        failure why;
        const hold h = m.acquire(why, token);
        EXPECT_FALSE(h);
      }};
      std::this_thread::sleep_for(2ms);
      stop.request_stop();
    } catch (const std::bad_alloc&) {  // the test's own
    }
  });
  other = {};
  nothing_is_left_of(name);
}

TEST_P(no_memory, release) {
  const auto name = fresh("release");
  mutex m{c, name, {.ttl = 2s}};
  hold h;
  for_every_allocation(name, [&] {
    {
      failure why;
      h = m.acquire(why);
    }
    if (!h) return;
    failure why;
    h.release(why);
    expect_no_memory(why);
  });
}

TEST_P(no_memory, upgrade_and_downgrade) {
  const auto name = fresh("convert");
  shared_mutex m{c, name, {.ttl = 2s}};
  hold h;
  const auto given_back = [&] {
    h = {};
    for (const auto until = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < until;) {
      failure why;
      const hold w = shared_mutex{judge, name}.try_acquire(why);
      if (w) return;
      std::this_thread::sleep_for(5ms);
    }
    FAIL() << "the lock is stuck";
  };
  for_every_allocation(
      fresh("free"),
      [&] {
        failure why;
        h = m.shared().try_acquire(why);
        if (!h) return;
        const bool alone = m.upgrade(why, h);
        EXPECT_NE(alone, h.shared());
        if (!alone) return;
        m.downgrade(why, h);
        EXPECT_NE(!why, !h.shared());
      },
      given_back);
}

TEST_P(no_memory, observe) {
  const auto name = fresh("observe");
  leader l{c, name, {.ttl = 600ms}}, theirs{judge, name, {.ttl = 600ms}};
  std::atomic<int> told{0};
  for_every_allocation(name, [&] {
    try {
      const auto o = l.observe([&](const auto&) { ++told; });
      failure why;
      const hold h = theirs.try_acquire_for(why, 5s);
    } catch (const std::bad_alloc&) {
    } catch (const error&) {}
  });
}

TEST_P(no_memory, close) {
  const auto name = fresh("close");
  for_every_allocation(name, [&] {
    try {
      client mine{uri(), quick()};
      mutex m{mine, name, {.ttl = 2s}};
      failure why;
      const hold h = m.acquire(why);
      mine.close(500ms);
      EXPECT_FALSE(h.valid());
    } catch (const std::bad_alloc&) {
    } catch (const error&) {}
  });
}

INSTANTIATE_TEST_SUITE_P(of, no_memory, ::testing::Values(whose::calling_thread, whose::clients_threads),
                         [](const auto& p) { return p.param == whose::calling_thread ? "the_caller" : "the_client"; });

}  // namespace
}  // namespace tyer::test
