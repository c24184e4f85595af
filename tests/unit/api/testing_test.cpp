// tyer/testing.hpp does what it says, since other people's tests stand on it.
#include "sanitized.hpp"
#include "took.hpp"
#include "unit/api/later.hpp"

#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace tyer::testing_api {
namespace {

class testing_engine : public ::testing::Test {
 protected:
  testing::engine engine;
  client a = engine.connect(), b = engine.connect();
  mutex mine{a, "x", {.ttl = 10s}}, theirs{b, "x", {.ttl = 10s}};
};

TEST_F(testing_engine, time_stands_still_until_it_is_moved) {
  const auto before = engine.now();
  hold h = mine.acquire();
  EXPECT_EQ(engine.now(), before);
  EXPECT_EQ(h.remaining(), 9500ms);  // ttl - ttl / 20
  engine.advance(3s);
  EXPECT_EQ(engine.now(), before + 3s);
}

TEST_F(testing_engine, renewals_happen_on_the_way) {
  hold h = mine.acquire();
  engine.advance(1h);
  EXPECT_TRUE(h.valid());
  EXPECT_GT(h.remaining(), 5s);
  EXPECT_FALSE(took(theirs.try_acquire()));
}

TEST_F(testing_engine, a_hold_has_an_id_that_renewals_do_not_change_and_no_other_hold_has) {
  hold h = mine.acquire();
  const auto id = h.id();
  EXPECT_EQ(id.text().size(), 34U);
  engine.advance(1h);
  EXPECT_EQ(h.id(), id);
  h.release();
  EXPECT_THROW(static_cast<void>(h.id()), error);
  EXPECT_NE(mine.acquire().id(), id);
}

TEST_F(testing_engine, a_paused_engine_loses_the_hold_before_its_validity_ends) {
  hold h = mine.acquire();
  std::atomic<bool> in_time{false};
  const std::stop_callback told{h.lost(), [&] { in_time = engine.now() < h.valid_until(); }};
  engine.pause();
  engine.advance(8s);
  EXPECT_TRUE(h.valid());
  engine.advance(2s);
  EXPECT_FALSE(h.valid());
  EXPECT_TRUE(in_time);
  engine.resume();
  engine.advance(10s);
  EXPECT_TRUE(took(theirs.try_acquire()));
}

TEST_F(testing_engine, a_short_pause_costs_nothing) {
  hold h = mine.acquire();
  engine.pause();
  engine.advance(5s);
  engine.resume();
  engine.advance(1min);
  EXPECT_TRUE(h.valid());
}

TEST_F(testing_engine, exactly_that_hold_is_lost_and_told_on_return) {
  hold h = mine.acquire();
  mutex elsewhere{a, "y"};
  hold other = elsewhere.acquire();
  engine.lose(h);
  EXPECT_TRUE(h.lost().stop_requested());
  EXPECT_FALSE(h.valid());
  EXPECT_TRUE(other.valid());
  hold next = theirs.try_acquire();
  EXPECT_TRUE(next.valid());
  engine.lose(h);  // it is gone: the next one is not touched
  EXPECT_TRUE(next.valid());
}

TEST_F(testing_engine, a_waiter_gets_what_was_lost) {
  hold h = mine.acquire();
  auto waiting = acquire_later(theirs);
  engine.lose(h);
  EXPECT_TRUE(waiting.get().got.valid());
}

TEST_F(testing_engine, everything_can_be_lost_at_once) {
  hold h = mine.acquire();
  auto waiting = acquire_later(theirs);
  engine.lose_everything();
  EXPECT_TRUE(h.lost().stop_requested());
  const hold next = waiting.get().got;
  EXPECT_TRUE(next.valid());
  EXPECT_GT(next.token(), h.token());
}

TEST_F(testing_engine, a_wait_ends_when_time_is_moved_past_its_limit) {
  hold h = mine.acquire();
  auto waiting = acquire_later(theirs, {.at_most = 30s});
  engine.advance(29s);
  EXPECT_FALSE(waiting.is_there());
  engine.advance(1s);
  ASSERT_TRUE(waiting.is_there());
  EXPECT_FALSE(took(waiting.get().got));
}

// Each of these once waited for ever, or a real second: time stood still, and the only thread waited for it.
TEST_F(testing_engine, a_timed_wait_of_the_only_thread_ends) {
  const hold h = mine.acquire();
  const auto before = engine.now();
  const auto really = std::chrono::steady_clock::now();
  EXPECT_FALSE(took(theirs.try_acquire_for(10min)));
  EXPECT_EQ(engine.now() - before, 10min);
  EXPECT_TRUE(h.valid());
  EXPECT_LT(std::chrono::steady_clock::now() - really, 20s);
}

TEST_F(testing_engine, the_only_thread_gets_what_expires) {
  std::optional<client> c{engine.connect()};
  hold h = mutex{*c, "x", {.ttl = 10s, .max_hold = 1min}}.acquire();
  EXPECT_TRUE(theirs.acquire().valid());
  EXPECT_TRUE(h.lost().stop_requested());
}

TEST_F(testing_engine, calls_of_the_only_thread_on_a_paused_engine_end) {
  hold h = mine.acquire();
  const auto really = std::chrono::steady_clock::now();
  engine.pause();
  failure why;
  EXPECT_FALSE(took(theirs.try_acquire(why)));
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_FALSE(took(theirs.acquire(why)));
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_EQ(h.release(), release_outcome::already_gone);  // meanwhile it was lost
  a.close();
  EXPECT_LT(std::chrono::steady_clock::now() - really, 3s) << "the time of the engine passes, not the caller's";
}

TEST_F(testing_engine, while_one_thread_is_awake_time_stands_still) {
  const hold h = mine.acquire();
  const auto before = engine.now();
  auto waiting = std::async(std::launch::async, [&] { return theirs.try_acquire_for(5s); });
  while (admin{a}.show("x").size() < 2) std::this_thread::yield();
  for (const auto until = std::chrono::steady_clock::now() + 500ms; std::chrono::steady_clock::now() < until;) continue;
  EXPECT_EQ(engine.now(), before);
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  engine.advance(6s);
  EXPECT_FALSE(took(within_reason(std::move(waiting))));
}

TEST_F(testing_engine, a_thread_that_joins_another_one_is_not_awake) {
  const hold h = mine.acquire();
  hold got;
  std::thread{[&] { got = theirs.try_acquire_for(5s); }}.join();
  EXPECT_FALSE(got);
}

TEST_F(testing_engine, all_threads_of_a_test_may_wait) {
  const hold h = mine.acquire();
  std::vector<std::thread> all;
  std::atomic<int> empty{0};
  for (int i = 1; i <= 4; ++i) {
    all.emplace_back([&, i] { empty += took(theirs.try_acquire_for(i * 10s)) ? 0 : 1; });
  }
  EXPECT_FALSE(took(theirs.try_acquire_for(1min)));
  for (auto& t : all) t.join();
  EXPECT_EQ(empty, 4);
}

TEST_F(testing_engine, clients_may_come_and_go) {
  {
    client c = engine.connect();
    hold h = mutex{c, "z"}.acquire();
  }
  engine.advance(1s);
  EXPECT_TRUE(took(mutex{a, "z"}.try_acquire()));
}

TEST_F(testing_engine, a_lost_reply_leaves_the_client_in_doubt_and_the_lock_free_in_the_end) {
  engine.lose_next_reply();
  failure why;
  const auto before = engine.now();
  EXPECT_FALSE(took(mine.try_acquire(why)));
  EXPECT_EQ(why, errc::unavailable) << why.message();
  EXPECT_EQ(engine.now() - before, 2s) << "request_timeout";
  EXPECT_TRUE(took(theirs.try_acquire_for(10s))) << "what was granted unheard is given back";
}

TEST_F(testing_engine, a_lost_reply_to_a_release_is_asked_for_again) {
  hold h = mine.acquire();
  engine.lose_next_reply();
  EXPECT_EQ(h.release(), release_outcome::released) << "the second request finds what the first has done";
  EXPECT_TRUE(took(theirs.try_acquire()));
}

TEST_F(testing_engine, a_lost_reply_to_a_question_is_no_verdict) {
  const hold h = mine.acquire();
  engine.lose_next_reply();
  failure why;
  EXPECT_FALSE(h.confirm(why));
  EXPECT_EQ(why, errc::unavailable);
  EXPECT_TRUE(h.valid());
  EXPECT_TRUE(h.confirm());
}

TEST_F(testing_engine, waits_for_those_who_queue_here_and_there) {
  hold h = mine.acquire();
  const auto before = engine.now();
  std::vector<std::jthread> all;
  for (const mutex* m : {&mine, &mine, &theirs}) all.emplace_back([m] { static_cast<void>(m->acquire().valid()); });
  EXPECT_TRUE(engine.wait_for_waiters("x", 3));
  EXPECT_EQ(engine.now(), before);
  EXPECT_TRUE(engine.wait_for_waiters("y", 0));
  h.release();
}

TEST_F(testing_engine, moving_by_nothing_waits_until_a_holder_was_told_that_somebody_asked) {
  const hold h = mine.acquire();
  const auto before = engine.now();
  EXPECT_EQ(b.ask("x", "please"), 1U);
  engine.advance(0s);
  EXPECT_TRUE(h.revoked().stop_requested());
  EXPECT_EQ(engine.now(), before);
}

TEST_F(testing_engine, an_empty_hold_cannot_be_lost) { EXPECT_THROW(engine.lose(hold{}), error); }

TEST_F(testing_engine, a_hold_of_another_engine_was_not_lost_and_nobody_said_so) {
  testing::engine other;
  client c = other.connect();
  const hold h = mutex{c, "x"}.acquire();
  EXPECT_THROW(engine.lose(h), error);
  EXPECT_TRUE(h.valid());
}

// Who has only looked at the time is somebody who is awake, and for whom it must not jump.
TEST_F(testing_engine, a_thread_that_was_only_given_a_hold_and_looks_at_the_time_is_awake) {
  hold h = mine.acquire();
  std::atomic<bool> over{false};
  std::promise<lease_clock::time_point> first;
  auto looks = std::async(std::launch::async, [&, given = std::move(h)] {
    const auto before = engine.now();
    first.set_value(before);
    while (!over) std::this_thread::yield();
    return engine.now() - before;
  });
  first.get_future().wait();
  auto waits = std::async(std::launch::async, [&] { return theirs.try_acquire_for(5s); });
  EXPECT_EQ(waits.wait_for(600ms), std::future_status::timeout);
  over = true;
  EXPECT_EQ(within_reason(std::move(looks)), 0s);
  EXPECT_TRUE(took(within_reason(std::move(waits))));
}

TEST(testing_engines, a_client_that_outlived_its_engine_never_ended_a_timed_wait) {
  std::optional<testing::engine> engine{std::in_place};
  client a = engine->connect(), b = engine->connect();
  const hold h = mutex{a, "x", {.ttl = 10s}}.acquire();
  engine.reset();
  EXPECT_FALSE(took(mutex{b, "x"}.try_acquire_for(1min)));
  EXPECT_TRUE(h.valid());
}

// The thread that moves time may be the last to have a client.
TEST(testing_engines, clients_that_outlive_their_engine_end_at_any_moment) {
  for (int i = 0; i < 50; ++i) {
    std::optional<testing::engine> engine{std::in_place};
    std::optional<client> a{engine->connect()}, b{engine->connect()};
    const hold h = mutex{*a, "x", {.ttl = 10s}}.acquire();
    engine.reset();
    std::jthread waits{[c = std::move(*b)] {
      failure why;
      static_cast<void>(mutex{c, "x"}.try_acquire_for(why, 1ms));
    }};
    a.reset();
  }
}

TEST(testing_engines, know_nothing_of_each_other) {
  testing::engine one, two;
  client a = one.connect(), b = two.connect();
  hold h = mutex{a, "x"}.acquire();
  EXPECT_TRUE(took(mutex{b, "x"}.try_acquire()));
}

TEST_F(testing_engine, moved_from_a_callback_waited_for_that_callback) {
  const hold h = mine.acquire(), kept = mutex{a, "y"}.acquire();
  std::vector<std::function<void()>> calls{[&] { engine.advance(1s); },
                                           [&] { engine.lose(kept); },
                                           [&] { engine.lose_everything(); },
                                           [&] { engine.pause(); },
                                           [&] { engine.resume(); },
                                           [&] { engine.lose_next_reply(); },
                                           [&] { static_cast<void>(engine.wait_for_waiters("x", 0)); },
                                           [&] { static_cast<void>(engine.connect()); }};
  std::size_t refused = 0;
  const std::stop_callback on_loss{h.lost(), [&] {
                                     for (const auto& call : calls) {
                                       try {
                                         call();
                                       } catch (const error& e) {
                                         refused += e.code() == errc::would_deadlock ? 1U : 0U;
                                       }
                                     }
                                     static_cast<void>(engine.now());
                                   }};
  engine.lose(h);
  EXPECT_EQ(refused, calls.size());
  engine.advance(1s);
  EXPECT_TRUE(kept.valid());
}

TEST_F(testing_engine, in_a_forked_child_waited_for_threads_of_the_parent) {
  if (tyer::test::under_tsan) GTEST_SKIP() << "ThreadSanitizer knows no threads in a forked child";
  auto theirs_too = std::make_unique<testing::engine>();
  auto c = std::make_unique<client>(theirs_too->connect());
  auto h = std::make_unique<hold>(mutex{*c, "x"}.acquire());
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that hangs must not hang the test
    int refused = 0;
    for (const auto& call :
         std::vector<std::function<void()>>{[&] { theirs_too->advance(1s); }, [&] { theirs_too->lose(*h); },
                                            [&] { static_cast<void>(theirs_too->connect()); }}) {
      try {
        call();
      } catch (const error& e) {
        refused += e.code() == errc::forked ? 1 : 0;
      }
    }
    static_cast<void>(theirs_too->now());
    h.reset(), c.reset(), theirs_too.reset();
    ::_exit(refused);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  theirs_too->advance(1s);
  EXPECT_TRUE(h->valid());
}

// A hold's next renewal is further away than the time that a request may take.
TEST_F(testing_engine, time_moved_past_a_request_that_was_asked_while_it_looked_for_what_is_due) {
  const mutex kept{a, "kept", {.ttl = 1min}};
  const hold h = kept.acquire();
  for (int i = 0; i < 100; ++i) {
    const client another = engine.connect();
    const mutex m{another, "m"};
    const hold mine = m.try_acquire();  // errc::unavailable
    EXPECT_TRUE(mine.valid());
  }
}

}  // namespace
}  // namespace tyer::testing_api
