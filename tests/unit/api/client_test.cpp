#include "sanitized.hpp"
#include "took.hpp"
#include "unit/api/later.hpp"

#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>

namespace tyer::testing_api {
namespace {

// Each of these once left somebody waiting for ever, or touched what was gone.

TEST(client, closing_while_the_engine_is_away_answers_everybody) {
  testing::engine engine;
  std::optional<client> c{engine.connect()};
  mutex m{*c, "a", {.ttl = 60s}}, other{*c, "b", {.ttl = 60s}};
  hold h = m.acquire(), released = other.acquire();
  engine.pause();
  auto waiting = acquire_later(m);
  std::atomic<bool> under_way = false;
  auto outcome = std::async(std::launch::async, [&] {
    under_way = true;
    return released.release();
  });
  const auto before = std::chrono::steady_clock::now();
  while (!under_way) std::this_thread::yield();
  c.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 3s);  // a second, on a busy machine
  EXPECT_EQ(waiting.get().why.code, errc::closed);
  EXPECT_TRUE(h.lost().stop_requested());
  EXPECT_NE(within_reason(std::move(outcome)), release_outcome::released);
}

// It was the parent's: with holds of nobody, and perhaps with a mutex of a thread that the child does not have.
TEST(client, of_memory_in_a_forked_child_had_the_store_of_the_parent) {
  if (tyer::test::under_tsan) GTEST_SKIP() << "ThreadSanitizer knows no threads in a forked child";
  const client c{"memory://of_the_parent"};
  const hold h = mutex{c, "x"}.acquire();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that hangs must not hang the test
    const client own{"memory://of_the_parent"};
    ::_exit(took(mutex{own, "x"}.try_acquire()) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const client other{"memory://of_the_parent"};
  EXPECT_FALSE(took(mutex{other, "x"}.try_acquire())) << "the parent keeps its own";
}

TEST(client, closing_without_time_answers_everybody) {
  for (int i = 0; i < 200; ++i) {
    testing::engine engine;
    client c = engine.connect();
    mutex m{c, "a"};
    hold h = m.acquire();
    auto waiting = acquire_later(m);
    c.close(0ms);
    EXPECT_EQ(waiting.get().why.code, errc::closed);
  }
}

TEST(client, a_call_at_the_moment_of_closing_is_answered) {
  for (int i = 0; i < 200; ++i) {
    testing::engine engine;
    client c = engine.connect();
    mutex m{c, "a"};
    auto calling = std::async(std::launch::async, [&] {
      failure why;
      while (!why) static_cast<void>(m.acquire(why));
      return why.code;
    });
    c.close();
    EXPECT_EQ(within_reason(std::move(calling)), errc::closed);
  }
}

TEST(client, a_closed_client_is_not_ready) {
  testing::engine engine;
  client c = engine.connect();
  EXPECT_TRUE(c.wait_ready());
  c.close();
  failure why;
  EXPECT_FALSE(c.wait_ready(why, 1ms));
  EXPECT_EQ(why.code, errc::closed);
}

TEST(client, to_be_ready_was_false_and_not_to_be_was_true) {
  testing::engine engine;
  client there = engine.connect();
  failure why = errc::closed;
  EXPECT_TRUE(there.wait_ready(why));
  EXPECT_FALSE(why);
  EXPECT_TRUE(there.wait_ready(why, 1s));

  client gone = std::move(there);
  EXPECT_FALSE(there.wait_ready(why, 1s));  // NOLINT: that one that was moved from is no crash is the point
  EXPECT_EQ(why.code, errc::closed);
}

TEST(client, may_be_destroyed_by_a_callback_of_its_own) {
  testing::engine engine;
  std::optional<client> c{engine.connect()};
  std::optional<hold> h{mutex{*c, "a"}.acquire()};
  std::promise<void> done;
  const std::stop_callback callback{h->lost(), [&] {
                                      c.reset();
                                      done.set_value();
                                    }};
  engine.lose(*h);
  within_reason(done.get_future());
}

// It slept for ever when it took the loop over in the moment between the I/O thread's laying it down and being told. Pauses of
// about the grace bring the two together; the moment is short, so one run may miss it.
TEST(client, a_caller_that_takes_the_loop_over_just_before_its_answer_is_told_is_woken) {
  client c{"memory://baton"};
  mutex lock{c, "a"};
  const hold mine = lock.acquire();
  for (int i = 0; i < 1500; ++i) {
    EXPECT_FALSE(took(lock.try_acquire()));
    std::this_thread::sleep_for(std::chrono::microseconds{800 + i % 400});
  }
}

}  // namespace
}  // namespace tyer::testing_api
