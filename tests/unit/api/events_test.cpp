// What a client reports to on_event, on an engine whose time is moved by hand.
#include "api/events.hpp"

#include "core/owner.hpp"
#include "odd_site.hpp"
#include "unit/api/later.hpp"

#include <tyer/async.hpp>
#include <tyer/event.hpp>
#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
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
  EXPECT_EQ(e.text, "'order/42' is lost after 5.0 s: the engine does not have it any more");
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

// It was: the watch had ended the hold, its owner let go of it, and the coordinator counted the loss and reported nothing.
TEST_F(events_on_hand_time, a_loss_that_its_owner_answers_by_letting_go_was_no_event) {
  auto o = listening();
  o.request_timeout = 30s;  // a renewal is under way when the deadline passes
  const client c = engine.connect(o);
  hold h = mutex{c, "order/42", {.ttl = 10s}}.acquire();
  const auto id = h.id();
  const std::stop_callback lets_go{h.lost(), [&] { h.release(); }};
  engine.pause();
  engine.advance(20s);
  ASSERT_FALSE(h);
  const auto all = heard(event_kind::lost);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().reason, loss_reason::deadline);
  EXPECT_EQ(all.front().id, id);
}

// It was: until the coordinator noticed, which in a process that was stopped may be an hour later.
TEST_F(events_on_hand_time, a_hold_that_was_over_was_told_to_have_lasted_until_the_engine_answered) {
  auto o = listening();
  o.request_timeout = 30s;
  const client c = engine.connect(o);
  const hold h = mutex{c, "order/42", {.ttl = 10s}}.acquire();
  engine.pause();
  engine.advance(60s);
  const auto all = heard(event_kind::lost);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_LE(all.front().lasted, 10s) << all.front().text;
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
  EXPECT_EQ(all.front().text, "somebody asks for 'order/42', held for 2.0 s: a bigger\\x0ajob");
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

// It was: the one whose request the engine had granted, who had given it back long ago.
TEST_F(events_on_hand_time, after_a_hand_off_the_one_who_had_it_before_was_told_to_hold_it) {
  const client c = engine.connect(listening(2s));
  const mutex m{c, "k", {.ttl = 9s}};
  auto first = acquire_later(m).get();
  auto second = acquire_later(m);
  engine.advance(4s);  // it was renewed since the second came, so it may be handed off
  first.got.release();
  const hold has_it = second.get().got;
  ASSERT_EQ(has_it.fence().id.text().substr(32), "01") << "handed off";
  auto waits = acquire_later(m);
  engine.advance(3s);
  const auto all = heard(event_kind::slow_wait);
  ASSERT_FALSE(all.empty());
  ASSERT_EQ(all.back().holders.size(), 1u) << all.back().text;
  EXPECT_EQ(all.back().holders.front().id, has_it.id());
  EXPECT_EQ(all.back().holders.front().token, has_it.token());
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
  EXPECT_EQ(all.front().text, "connected to " + all.front().server) << "it was: away for 0.0 s";
}

// It was: "who asked for it -3600.0 s ago".
TEST(event_text, of_a_holder_whose_clock_is_ahead_told_of_the_future) {
  std::string text;
  const auto tell = detail::telling([&](const event& e) { text = e.text; }, true);
  auto what = std::make_shared<runtime::spec>();
  what->name = "order/42";
  runtime::event e{.kind = event_kind::slow_wait, .what = what, .lasted = 10s, .waiters = 1};
  e.when = std::chrono::system_clock::time_point{1'763'240'000s};
  runtime::holder h;
  h.seen.owner = core::owner_text("shop-7 pid 812 shop", "order.cc", 87, e.when + 1h, {});
  e.holders.push_back(h);
  auto earlier = e;
  tell(std::move(e), 0);
  EXPECT_TRUE(
      text.ends_with("; held by shop-7 pid 812 shop order.cc:87, whose clock is at least 3600.0 s ahead of ours"))
      << text;
  earlier.when += 2h;
  tell(std::move(earlier), 0);
  EXPECT_TRUE(text.ends_with("order.cc:87, who asked for it 3600.0 s ago")) << text;
}

// A name of a file may have any bytes.
TEST(event_text, of_a_wait_had_the_control_characters_of_its_call_site) {
  std::string text;
  const auto tell = detail::telling([&](const event& e) { text = e.text; }, true);
  const auto where = test::odd_site();
  tell({.kind = event_kind::slow_wait, .what = std::make_shared<runtime::spec>(), .lasted = 10s, .where = where}, 0);
  EXPECT_NE(text.find("waited for at two\\x0alines_and_"), std::string::npos) << text;
}

TEST(event_text, of_a_clock_that_was_set) {
  std::string text;
  const auto tell = detail::telling([&](const event& e) { text = e.text; }, true);
  tell({.kind = event_kind::clock_jumped, .lasted = 3600s, .words = "this machine was suspended"}, 0);
  EXPECT_EQ(text, "this machine was suspended (3600.0 s)");
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

// It was: those that waited behind it came afterwards, to an owner that was gone.
TEST_F(events_on_hand_time, came_after_one_of_them_had_closed_the_client) {
  std::optional<client> c;
  std::promise<void> all_wait;
  std::atomic<int> called{0}, late{0};
  std::atomic<bool> closed{false};
  auto life = std::make_shared<int>();  // of the function, which ends behind the last event
  const std::weak_ptr<int> function = life;
  client_options o;
  o.on_event = [&, life = std::move(life)](const event&) {
    if (closed) ++late;
    if (++called > 1) return;
    all_wait.get_future().wait();
    c.reset();
    closed = true;
  };
  c.emplace(engine.connect(std::exchange(o, {})));
  const client other = engine.connect();
  const hold h = mutex{*c, "k"}.acquire();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(other.ask("k"), 1u);
  EXPECT_EQ(c->ask("nobody's"), 0u);  // behind them: so they wait now
  all_wait.set_value();
  while (!function.expired()) std::this_thread::yield();
  EXPECT_TRUE(closed);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(late, 0);
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
  EXPECT_TRUE(std::ranges::all_of(heard, [](const event& e) { return e.left_out == 0; })) << "they came before";
  const hold last = tyer::mutex{c, "last"}.acquire();
  engine.lose(last);
  EXPECT_EQ(turn(), 1u);
  EXPECT_EQ(heard.back().name, "last");
  EXPECT_EQ(heard.back().left_out, 45u);
}

// They were counted nowhere.
TEST_F(events_on_hand_time, those_that_an_executor_destroyed_uncalled_were_not_counted) {
  bool discards = true;
  std::mutex mutex;
  std::vector<std::function<void()>> loop;
  client_options o;
  std::vector<event> heard;
  o.on_event = [&](const event& e) { heard.push_back(e); };
  o.completions = [&](std::function<void()> f) {
    const std::lock_guard lock{mutex};
    if (!discards) loop.push_back(std::move(f));
  };
  const client c = engine.connect(o);
  const hold first = tyer::mutex{c, "first"}.acquire(), second = tyer::mutex{c, "second"}.acquire();
  engine.lose(first);
  engine.advance(0s);
  {
    const std::lock_guard lock{mutex};
    discards = false;
  }
  engine.lose(second);
  engine.advance(0s);
  const std::lock_guard lock{mutex};
  for (auto& f : loop) f();
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard.front().left_out, 2u) << "the connection and the first loss";
}

// They were all told by close() itself, which took as long as that.
TEST_F(events_on_hand_time, those_that_wait_when_the_client_is_closed_were_told_first) {
  std::promise<void> begun, go_on;
  std::atomic<int> called = 0;
  client_options o;
  o.on_event = [&](const event&) {
    if (++called > 1) return;
    begun.set_value();
    go_on.get_future().wait();
  };
  client c = engine.connect(std::move(o));
  begun.get_future().wait();
  const hold h = mutex{c, "k"}.acquire();
  const client other = engine.connect();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(other.ask("k"), 1u);
  EXPECT_EQ(c.ask("nobody's"), 0u);  // behind them: so they wait now
  auto closed = std::async(std::launch::async, [&] { c.close(0ms); });
  while (closed.wait_for(1ms) != std::future_status::ready && h.valid()) continue;
  go_on.set_value();
  closed.get();
  EXPECT_EQ(called, 1);
}

// It returned at once, since the client was closed: what the function uses was perhaps gone. If no lock object was left, the
// client's own memory was gone while close() still ran in there.
TEST_F(events_on_hand_time, one_that_had_closed_the_client_was_not_waited_for_by_the_destructor) {
  std::promise<client*> made;
  std::promise<void> closed;
  std::atomic<bool> over = false;
  client_options o;
  o.on_event = [&, mine = made.get_future().share()](const event&) {
    mine.get()->close();
    closed.set_value();
    std::this_thread::sleep_for(50ms);  // time for a destructor that does not wait
    over = true;
  };
  auto c = std::make_unique<client>(engine.connect(std::move(o)));
  const mutex m{*c, "k"};
  made.set_value(c.get());
  closed.get_future().wait();
  c.reset();
  EXPECT_TRUE(over);
}

// It was: the next report came only after twice the time that the one had waited who has long had its turn.
TEST_F(events_on_hand_time, after_one_very_long_wait_the_waits_of_others_were_not_reported) {
  const client c = engine.connect(listening(1s)), other = engine.connect();
  hold theirs = mutex{other, "k", {.ttl = 24h}}.acquire();
  const mutex m{c, "k", {.ttl = 24h}};
  auto first = acquire_later(m);
  engine.advance(2000s);
  auto second = acquire_later(m);
  ASSERT_TRUE(engine.wait_for_waiters("k", 2));
  theirs.release();
  const hold has_it = first.get().got;
  auto third = acquire_later(m);
  ASSERT_TRUE(engine.wait_for_waiters("k", 2));
  const auto before = heard(event_kind::slow_wait).size();
  engine.advance(5s);
  EXPECT_GT(heard(event_kind::slow_wait).size(), before);
}

}  // namespace
}  // namespace tyer::testing_api
