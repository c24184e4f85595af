// Wherever an allocation fails: the call says so or does what it should, and everything else goes on. Nobody hangs, nobody
// else's hold is lost, no lock is left behind, and no two have it.
#include "contract/no_memory/fixture.hpp"

namespace tyer::test {
namespace {

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
      std::this_thread::sleep_for(2ms + 50ms * missed);
      stop.request_stop();
    } catch (const std::bad_alloc&) {  // the test's own
    }
  });
  other = {};
  nothing_is_left_of(name);
}

TEST_P(no_memory, to_confirm_a_hold_ended_the_process) {
  mutex m{c, fresh("confirm"), {.ttl = 10s}};
  const hold h = m.acquire();
  bool stands = false;
  failure why;
  for_every_allocation(
      fresh("free"), [&] { stands = h.confirm(why); },
      [&] {
        expect_no_memory(why);
        EXPECT_TRUE(stands || why) << "it is not lost";
        EXPECT_TRUE(h.valid());
      });
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
        EXPECT_NE(alone, h.mode() == tyer::lock_mode::shared);
        if (!alone) return;
        m.downgrade(why, h);
        EXPECT_NE(!why, h.mode() != tyer::lock_mode::shared);
      },
      given_back);
}

TEST_P(no_memory, observe) {
  const auto name = fresh("observe");
  election l{c, name, {.ttl = 600ms}}, theirs{judge, name, {.ttl = 600ms}};
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

INSTANTIATE_TEST_SUITE_P(of, no_memory, ::testing::Values(whose::calling_thread, whose::clients_threads), name_of);

}  // namespace
}  // namespace tyer::test
