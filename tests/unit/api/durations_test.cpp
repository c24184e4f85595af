// "For ever" as the longest duration there is, and all that is longer or shorter than anything: nothing overflows.
#include "took.hpp"
#include "unit/api/later.hpp"

#include <tyer/detail/to_wait.hpp>
#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <thread>

namespace tyer::testing_api {
namespace {

using detail::to_wait;
using std::chrono::duration;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

TEST(to_wait, knows_every_duration) {
  EXPECT_EQ(to_wait(5s), 5s);
  EXPECT_EQ(to_wait(duration<double>{0.5}), 500ms);
  EXPECT_EQ(to_wait(duration<double, std::pico>{1}), 1ns);  // rounded up: never earlier
  for (const auto longest :
       {to_wait(nanoseconds::max()), to_wait(milliseconds::max()), to_wait(seconds::max()), to_wait(hours::max()),
        to_wait(duration<double>{1e300}), to_wait(duration<double>{std::numeric_limits<double>::infinity()})}) {
    EXPECT_EQ(longest, nanoseconds::max());
  }
  for (const auto none :
       {to_wait(0s), to_wait(-1ns), to_wait(nanoseconds::min()), to_wait(seconds::min()), to_wait(hours::min()),
        to_wait(duration<double>{-1e300}), to_wait(duration<double>{std::numeric_limits<double>::quiet_NaN()})}) {
    EXPECT_EQ(none, 0ns);
  }
}

TEST(to_wait, knows_every_time) {
  using hourly = std::chrono::time_point<std::chrono::system_clock, hours>;
  EXPECT_EQ(to_wait(steady_clock::time_point::max()), nanoseconds::max());
  EXPECT_EQ(to_wait(hourly::max()), nanoseconds::max());
  EXPECT_EQ(to_wait(steady_clock::time_point::min()), 0ns);
  EXPECT_EQ(to_wait(hourly::min()), 0ns);
  EXPECT_EQ(to_wait(steady_clock::now() - 1ns), 0ns);
  EXPECT_GT(to_wait(steady_clock::now() + 1h), 59min);
  EXPECT_LE(to_wait(std::chrono::system_clock::now() + 1h), 1h);
}

// The difference of two unsigned times is never below zero: half a second ago was as far away as can be.
TEST(to_wait, a_past_time_of_an_unsigned_kind_is_past) {
  using unsigned_time = std::chrono::time_point<steady_clock, duration<std::uint64_t, std::nano>>;
  const auto of = [](steady_clock::time_point t) {
    return unsigned_time{unsigned_time::duration{static_cast<std::uint64_t>(t.time_since_epoch().count())}};
  };
  EXPECT_EQ(to_wait(of(steady_clock::now() - 500ms)), 0ns);
  EXPECT_EQ(to_wait(of(steady_clock::now() - 2s)), 0ns);
  EXPECT_GT(to_wait(of(steady_clock::now() + 1h)), 59min);
}

class durations_on_hand_time : public ::testing::Test {
 protected:
  testing::engine engine;
  client a = engine.connect(), b = engine.connect();
};

TEST_F(durations_on_hand_time, the_longest_limit_is_no_limit) {
  mutex m{a, "x"};
  EXPECT_TRUE(m.try_lock_for(nanoseconds::max()));
  m.unlock();
  EXPECT_TRUE(m.try_lock_for(hours::max()));
  m.unlock();
  EXPECT_TRUE(m.try_lock_for(duration<double>{1e300}));
  m.unlock();
  EXPECT_TRUE(m.try_lock_until(steady_clock::time_point::max()));
  m.unlock();
  mutex other{a, "nobody has had it"};
  EXPECT_TRUE(other.try_lock_until(steady_clock::time_point::min()));  // one attempt
  other.unlock();
}

TEST_F(durations_on_hand_time, a_wait_for_ever_returned_at_once) {
  mutex mine{a, "x"}, theirs{b, "x", {.ttl = 10s}};
  hold h = theirs.acquire();
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] {
    failure why;
    EXPECT_FALSE(took(mine.try_acquire_for(why, seconds::max(), stop.get_token())));
    return why.code;
  });
  while (admin{b}.show("x").size() < 2) std::this_thread::yield();
  engine.advance(1min);
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  stop.request_stop();
  EXPECT_EQ(within_reason(std::move(waiting)), errc::cancelled);
}

TEST_F(durations_on_hand_time, the_longest_max_hold_lost_the_hold_at_once) {
  for (const auto longest : {milliseconds::max(), milliseconds::max() - 1ms, milliseconds{hours{24 * 365 * 292}}}) {
    mutex m{a, "x", {.ttl = 10min, .max_hold = longest}};  // renewed seldom: each takes its real time
    hold h = m.acquire();
    engine.advance(1h);
    EXPECT_TRUE(h.valid());
  }
}

TEST_F(durations_on_hand_time, the_longest_unavailable_after_gave_up_at_once) {
  client c = engine.connect({.unavailable_after = milliseconds::max()});
  mutex m{c, "x"};
  engine.pause();
  auto waiting = acquire_later(m);
  engine.advance(1h);
  EXPECT_FALSE(waiting.is_there());
  engine.resume();
  engine.advance(1min);
  EXPECT_TRUE(waiting.get().got.valid());
}

TEST_F(durations_on_hand_time, a_client_can_be_waited_for_and_closed_for_ever) {
  EXPECT_TRUE(a.wait_ready(hours::max()));
  EXPECT_TRUE(a.wait_ready(nanoseconds::max()));
  EXPECT_TRUE(a.wait_ready(seconds::min()));
  failure why;
  EXPECT_TRUE(a.wait_ready(why, milliseconds::max()));
  hold h = mutex{a, "x"}.acquire();
  EXPECT_TRUE(a.close(hours::max()));
  EXPECT_TRUE(h.lost().stop_requested());
}

TEST_F(durations_on_hand_time, a_watch_may_look_as_seldom_as_it_likes) {
  std::atomic<int> told{0};
  const auto tell = [&](const auto&) { ++told; };
  const observation seldom = admin{a}.watch("x", tell, milliseconds::max()),
                    never = admin{a}.watch("x", tell, hours::max()),
                    half = admin{a}.watch("x", tell, duration<double>{0.5});
  mutex m{b, "x"};
  hold h = m.acquire();
  engine.advance(1s);
  EXPECT_GE(told.load(), 3);
}

TEST_F(durations_on_hand_time, a_limit_that_is_not_above_zero_is_one_attempt) {
  mutex mine{a, "x"}, theirs{b, "x"};
  hold h = theirs.acquire();
  const auto began = engine.now();
  for (const auto limit : {0ns, -1ns, nanoseconds::min()}) {
    failure why;
    EXPECT_FALSE(took(mine.try_acquire_for(why, limit)));
    EXPECT_FALSE(why) << why.words;
    EXPECT_FALSE(mine.try_lock_for(limit));
    EXPECT_FALSE(took(mine.try_acquire_until(steady_clock::time_point{limit})));
  }
  EXPECT_EQ(engine.now(), began);  // nobody waited
  static_cast<void>(h.release());  // an attempt does not wait for what is being given back
  EXPECT_TRUE(took(mine.try_acquire_for(nanoseconds::min())));
  engine.pause();
  failure why;
  EXPECT_FALSE(took(mine.try_acquire_for(why, 0s)));
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_GE(engine.now() - began, client_options{}.request_timeout);  // as try_acquire, which has to ask
}

TEST_F(durations_on_hand_time, several_locks_and_upgrades_too) {
  multi_mutex both{a, {"x", "y"}};
  EXPECT_TRUE(took(both.try_acquire_for(hours::max())));
  EXPECT_TRUE(took(both.try_acquire_for(duration<double>{1.5})));
  shared_mutex m{a, "z"};
  hold h = m.shared().acquire();
  EXPECT_TRUE(m.try_upgrade_for(h, hours::max()));
}

TEST(empty_holds, were_valid_for_centuries_to_whoever_subtracted) {
  const hold one;
  const multi_hold several;
  EXPECT_LT(one.valid_until() - lease_clock::now(), 0s);
  EXPECT_LT(several.valid_until() - lease_clock::now(), 0s);
  EXPECT_LT(one.valid_until(), testing::engine{}.now());
}

}  // namespace
}  // namespace tyer::testing_api
