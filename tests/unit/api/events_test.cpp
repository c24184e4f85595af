// What a client reports to on_event, on an engine whose time is moved by hand.
#include "unit/api/later.hpp"

#include <tyer/async.hpp>
#include <tyer/event.hpp>
#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

namespace tyer::testing_api {
namespace {

class events_on_hand_time : public ::testing::Test {
 protected:
  client_options listening(std::chrono::milliseconds slow_wait = 10s) {
    client_options o;
    o.on_event = [this](const event& e) {
      const std::lock_guard lock{mutex_};
      heard_.push_back(e);
    };
    o.slow_wait = slow_wait;
    return o;
  }
  std::vector<event> heard(event_kind kind) {
    engine.advance(0s);  // until they are told
    const std::lock_guard lock{mutex_};
    std::vector<event> all;
    std::ranges::copy_if(heard_, std::back_inserter(all), [kind](const event& e) { return e.kind == kind; });
    return all;
  }

  testing::engine engine;

 private:
  std::mutex mutex_;
  std::vector<event> heard_;
};

TEST_F(events_on_hand_time, a_loss_with_its_reason_and_for_how_long_it_was_held) {
  const client c = engine.connect(listening());
  const mutex m{c, "order/42", {.ttl = 10s, .group = "orders"}};
  const hold h = m.acquire();
  const auto pass = h.fence();
  engine.advance(5s);
  engine.lose(h);
  const auto all = heard(event_kind::lost);
  ASSERT_EQ(all.size(), 1u);
  const event& e = all.front();
  EXPECT_EQ(e.name, "order/42");
  EXPECT_EQ(e.group, "orders");
  EXPECT_EQ(e.reason, loss_reason::gone);
  EXPECT_EQ(e.id, pass.id);
  EXPECT_EQ(e.token, pass.token);
  EXPECT_EQ(e.lasted, 5s);
  EXPECT_EQ(e.text, "order/42 is lost after 5.0 s: the engine does not have it any more");
}

TEST_F(events_on_hand_time, a_deadline_that_passed) {
  auto o = listening();
  o.request_timeout = 1s;
  const client c = engine.connect(o);
  const hold h = mutex{c, "order/42", {.ttl = 10s}}.acquire();
  engine.pause();
  engine.advance(20s);
  ASSERT_FALSE(h.valid());
  const auto all = heard(event_kind::lost);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().reason, loss_reason::deadline);
}

TEST_F(events_on_hand_time, a_hold_that_was_given_back_or_whose_client_was_closed_is_no_event) {
  client c = engine.connect(listening());
  hold given = mutex{c, "a"}.acquire();
  const hold kept = mutex{c, "b"}.acquire();
  given.release();
  c.close();
  EXPECT_TRUE(kept.lost().stop_requested());
  EXPECT_TRUE(heard(event_kind::lost).empty());
}

TEST_F(events_on_hand_time, somebody_who_asks_and_what_they_say) {
  const client c = engine.connect(listening()), other = engine.connect();
  const hold h = mutex{c, "order/42"}.acquire();
  engine.advance(2s);
  EXPECT_EQ(other.ask("order/42", "a bigger\njob"), 1u);
  const auto all = heard(event_kind::revoked);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().token, h.token());
  EXPECT_EQ(all.front().lasted, 2s);
  EXPECT_EQ(all.front().words, "a bigger\njob");
  EXPECT_EQ(all.front().text, "somebody asks for order/42, held for 2.0 s: a bigger\\x0ajob");
}

TEST_F(events_on_hand_time, a_wait_that_takes_long_and_who_has_the_lock) {
  auto named = client_options{};
  named.label = "reporter";
  const client c = engine.connect(listening()), other = engine.connect(named);
  const hold theirs = mutex{other, "order/42", {.ttl = 20s}}.acquire();
  const mutex mine{c, "order/42", {.group = "orders"}};
  start_acquire(mine, [](const failure&, const hold&) {});
  start_acquire(mine, [](const failure&, const hold&) {});
  engine.advance(9s);
  EXPECT_TRUE(heard(event_kind::slow_wait).empty());
  engine.advance(2s);
  const auto all = heard(event_kind::slow_wait);
  ASSERT_EQ(all.size(), 1u) << "of one lock, however many wait";
  const event& e = all.front();
  EXPECT_EQ(e.name, "order/42");
  EXPECT_EQ(e.group, "orders");
  EXPECT_EQ(e.waiters, 2u);
  EXPECT_EQ(e.lasted, 10s);
  EXPECT_TRUE(e.site.starts_with("events_test.cpp:")) << e.site;
  ASSERT_EQ(e.holders.size(), 1u);
  EXPECT_EQ(e.holders.front().owner.label, "reporter");
  EXPECT_EQ(e.holders.front().token, theirs.token());
  EXPECT_NE(e.text.find(" for 10.0 s, by 2 callers; held by "), std::string::npos) << e.text;
}

TEST_F(events_on_hand_time, a_stuck_lock_is_reported_ever_more_rarely) {
  const client c = engine.connect(listening(1s)), other = engine.connect();
  const hold theirs = mutex{other, "k", {.ttl = 60s}}.acquire();
  for (int i = 0; i < 20; ++i) {
    start_acquire(mutex{c, "k"}, [](const failure&, const hold&) {});
    engine.advance(50ms);
  }
  engine.advance(100s);
  const auto all = heard(event_kind::slow_wait);
  ASSERT_GE(all.size(), 6u);
  EXPECT_LE(all.size(), 8u) << "after 1, 2, 4, 8, 16, 32, 64 s";
  EXPECT_EQ(all.back().waiters, 20u);
}

TEST_F(events_on_hand_time, one_who_waits_behind_a_holder_of_the_same_client_is_reported_too) {
  const client c = engine.connect(listening(1s));
  const mutex m{c, "k", {.ttl = 24h}};
  const hold h = m.acquire();
  std::stop_source enough;
  auto waits = std::async(std::launch::async, [&] {
    static_cast<void>(engine.now());
    failure why;
    const hold none = m.acquire(why, enough.get_token());
  });
  ASSERT_TRUE(engine.wait_for_waiters("k", 1));
  engine.advance(1500ms);
  EXPECT_EQ(heard(event_kind::slow_wait).size(), 1u);
  enough.request_stop();
  waits.get();
}

TEST_F(events_on_hand_time, waits_that_end_in_time_and_single_attempts_are_no_events) {
  const client c = engine.connect(listening(1s)), other = engine.connect();
  hold theirs = mutex{other, "k"}.acquire();
  const mutex mine{c, "k"};
  EXPECT_FALSE(mine.try_acquire().valid());
  EXPECT_FALSE(mine.try_acquire_for(900ms).valid());
  engine.advance(10s);
  EXPECT_TRUE(heard(event_kind::slow_wait).empty());
  const client calm = engine.connect(listening(0s));
  EXPECT_FALSE((mutex{calm, "k"}.try_acquire_for(60s).valid()));
  EXPECT_TRUE(heard(event_kind::slow_wait).empty()) << "0: none is reported";
  EXPECT_THROW((client{"memory://events", listening(1ms)}), error);
}

TEST_F(events_on_hand_time, who_holds_it_is_not_known_while_the_engine_is_silent) {
  auto o = listening(1s);
  o.request_timeout = 500ms;
  o.unavailable_after = 60s;
  const client c = engine.connect(o), other = engine.connect();
  const hold theirs = mutex{other, "k", {.ttl = 60s}}.acquire();
  start_acquire(mutex{c, "k"}, [](const failure&, const hold&) {});
  engine.advance(100ms);
  engine.pause();
  engine.advance(2s);
  const auto all = heard(event_kind::slow_wait);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_FALSE(all.front().words.empty());
  EXPECT_TRUE(all.front().holders.empty());
}

TEST_F(events_on_hand_time, the_first_connection_is_one) {
  const client c = engine.connect(listening());
  const hold h = mutex{c, "k"}.acquire();
  const auto all = heard(event_kind::connected);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().lasted, 0s);
}

TEST_F(events_on_hand_time, one_that_throws_is_lost_alone) {
  client_options o;
  int called = 0;
  o.on_event = [&](const event&) {
    ++called;
    throw std::runtime_error{"not today"};
  };
  {
    const client c = engine.connect(o);
    const hold one = mutex{c, "a"}.acquire(), two = mutex{c, "b"}.acquire();
    engine.lose(one);
    engine.lose(two);
    engine.advance(0s);
  }
  EXPECT_EQ(called, 3);
}

// It would be: a function that never returns costs memory for every event behind it.
TEST_F(events_on_hand_time, of_many_that_wait_the_rest_are_counted_and_dropped) {
  std::vector<std::function<void()>> loop;
  std::mutex mutex;
  client_options o;
  std::vector<event> heard;
  o.on_event = [&](const event& e) { heard.push_back(e); };
  o.completions = [&](std::function<void()> f) {
    const std::lock_guard lock{mutex};
    loop.push_back(std::move(f));
  };
  const client c = engine.connect(o);
  std::vector<hold> all;
  for (int i = 0; i < 300; ++i) all.push_back(tyer::mutex{c, "k" + std::to_string(i)}.acquire());
  for (const hold& h : all) engine.lose(h);
  const auto turn = [&] {
    std::vector<std::function<void()>> now;
    {
      const std::lock_guard lock{mutex};
      now.swap(loop);
    }
    for (auto& f : now) f();
    return now.size();
  };
  EXPECT_EQ(turn(), 256u) << "the connection and 255 losses";
  EXPECT_EQ(heard.front().left_out, 45u);
  const hold last = tyer::mutex{c, "last"}.acquire();
  engine.lose(last);
  EXPECT_EQ(turn(), 1u);
  EXPECT_EQ(heard.back().name, "last");
  EXPECT_EQ(heard.back().left_out, 0u);
}

}  // namespace
}  // namespace tyer::testing_api
