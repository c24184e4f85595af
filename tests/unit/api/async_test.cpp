// tyer/async.hpp on hand time: every call with a callback and a stop_token.
#include "took.hpp"
#include "unit/api/later.hpp"

#include <tyer/async.hpp>
#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <tuple>
#include <vector>

namespace tyer::testing_api {
namespace {

// What the callback of a call was given.
template <class... Answer>
struct told {
  std::promise<std::tuple<failure, Answer...>> promise;
  std::future<std::tuple<failure, Answer...>> future = promise.get_future();

  auto callback() {
    return [this](failure f, Answer... a) { promise.set_value({std::move(f), std::move(a)...}); };
  }
  bool is_there() const { return future.wait_for(0s) == std::future_status::ready; }
  auto get() { return within_reason(std::move(future)); }
};

class async_on_hand_time : public ::testing::Test {
 protected:
  testing::engine engine;
  client a = engine.connect(), b = engine.connect();
  mutex mine{a, "x"}, theirs{b, "x"};
};

TEST_F(async_on_hand_time, an_empty_function_ended_the_process_when_the_answer_came) {
  const auto refused = [](auto call) {
    try {
      call();
    } catch (const error& e) {
      return e.code() == errc::invalid_option;
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { start_acquire(mine, std::function<void(failure, hold)>{}); }));
  EXPECT_TRUE(refused([&] { start_try_acquire(mine, static_cast<void (*)(failure, hold)>(nullptr)); }));
  EXPECT_TRUE(refused([&] { start_wait_ready(a, 1s, std::function<void(failure)>{}); }));
  EXPECT_TRUE(refused([&] { start_release(mine.acquire(), std::function<void(failure, release_outcome)>{}); }));
  EXPECT_TRUE(took(theirs.try_acquire_for(1s))) << "nothing was taken, and the hold went back";
  hold named = mine.acquire();
  EXPECT_TRUE(refused([&] { start_release(named, std::function<void(failure, release_outcome)>{}); }));
  EXPECT_TRUE(named.valid()) << "it was: released, by a call that had not begun";
  named.release();
  multi_mutex several{a, {"x", "y"}};
  multi_hold both = several.acquire();
  EXPECT_TRUE(refused([&] { start_release(both, std::function<void(failure, release_outcome)>{}); }));
  EXPECT_TRUE(both.valid());
  both.release();
  told<hold> t;
  start_acquire(
      mine, std::function<void(failure, hold)>{[&](failure f, hold h) { t.callback()(std::move(f), std::move(h)); }});
  EXPECT_TRUE(std::get<1>(t.get()));
}

// Each hold is given back by the callback that got it: time does not move on before the last one had its turn.
TEST_F(async_on_hand_time, a_long_chain_of_hand_overs_takes_no_time) {
  constexpr std::size_t clients = 40;
  hold first = mine.acquire();
  std::vector<client> others;
  for (std::size_t i = 0; i < clients; ++i) others.push_back(engine.connect());
  std::vector<lease_clock::time_point> turns(clients);
  std::atomic<std::size_t> over{0};
  for (std::size_t i = clients; i-- > 0;) {  // the one that is looked at last has the first turn
    start_acquire(mutex{others[i], "x"}, [&, i](failure, hold h) {
      turns[i] = engine.now();
      h = {};
      ++over;
    });
    engine.advance(1ms);
  }
  const auto before = engine.now();
  std::move(first).release();
  engine.advance(1s);
  EXPECT_EQ(over, clients);
  for (const auto& t : turns) EXPECT_EQ(t, before);
}

TEST_F(async_on_hand_time, a_callback_is_given_the_hold_and_then_the_outcome) {
  told<hold> got;
  start_acquire(mine, got.callback());
  auto [why, h] = got.get();
  EXPECT_FALSE(why);
  EXPECT_TRUE(h.valid());

  told<hold> tried, limited;
  start_try_acquire(theirs, tried.callback());
  EXPECT_FALSE(took(std::get<1>(tried.get())));
  start_try_acquire_for(theirs, 5s, limited.callback());
  engine.advance(4s);
  EXPECT_FALSE(limited.is_there());
  engine.advance(1s);
  auto [no_failure, none] = limited.get();
  EXPECT_FALSE(no_failure);
  EXPECT_FALSE(none);

  told<release_outcome> released;
  start_release(std::move(h), released.callback());
  EXPECT_EQ(std::get<1>(released.get()), release_outcome::released);
  EXPECT_FALSE(h);
}

TEST_F(async_on_hand_time, a_stop_ends_the_wait_and_leaves_nothing_behind) {
  hold h = mine.acquire();
  std::stop_source stop;
  told<hold> got;
  start_acquire(theirs, got.callback(), stop.get_token());
  engine.advance(1s);
  EXPECT_FALSE(got.is_there());
  stop.request_stop();
  auto [why, none] = got.get();
  EXPECT_EQ(why.code, errc::cancelled);
  EXPECT_FALSE(none);
  h.release();
  EXPECT_TRUE(took(mine.try_acquire_for(1s)));

  told<hold> late;  // who was stopped before sends nothing
  start_acquire(theirs, late.callback(), stop.get_token());
  EXPECT_EQ(std::get<0>(late.get()).code, errc::cancelled);
}

TEST_F(async_on_hand_time, a_stop_at_the_moment_of_the_answer_loses_neither_callback_nor_hold) {
  for (int i = 0; i < 200; ++i) {
    std::stop_source stop;
    told<hold> got;
    std::jthread other{[&] { stop.request_stop(); }};
    start_acquire(mine, got.callback(), stop.get_token());
    auto [why, h] = got.get();
    EXPECT_TRUE(h ? !why : why.code == errc::cancelled) << why.code.message();
    h = {};
  }
  EXPECT_TRUE(took(theirs.try_acquire_for(1s)));
}

TEST_F(async_on_hand_time, a_release_that_is_waited_for_no_longer_goes_on) {
  hold h = mine.acquire();
  engine.pause();
  std::stop_source stop;
  told<release_outcome> got;
  start_release(std::move(h), got.callback(), stop.get_token());
  EXPECT_FALSE(got.is_there());
  stop.request_stop();
  const auto [why, outcome] = got.get();
  EXPECT_EQ(why.code, errc::cancelled);
  EXPECT_EQ(outcome, release_outcome::unknown);
  engine.resume();
  EXPECT_TRUE(took(theirs.try_acquire_for(1s)));
}

TEST_F(async_on_hand_time, a_callback_runs_where_the_client_puts_it_and_not_inside_the_call) {
  std::mutex mutex;
  std::vector<std::function<void()>> queue;
  client c = engine.connect({.completions = [&](std::function<void()> f) {
    const std::lock_guard lock{mutex};
    queue.push_back(std::move(f));
  }});
  tyer::mutex own{c, "own"};
  bool called = false;
  auto only_movable = std::make_unique<int>(7);
  start_acquire(own, [&called, p = std::move(only_movable)](failure, const hold& h) { called = h && *p == 7; });
  std::function<void()> f;
  while (!f) {
    const std::lock_guard lock{mutex};
    if (!queue.empty()) f = queue.front();
  }
  EXPECT_FALSE(called);
  f();
  EXPECT_TRUE(called);
}

// An executor that has no memory for what comes behind.
struct takes_and_throws {
  void operator()(std::function<void()> f) {
    const std::lock_guard lock{mutex};
    taken.push_back(std::move(f));
    throw std::bad_alloc{};
  }
  void run_all() {
    const std::lock_guard lock{mutex};
    for (const auto& f : taken) f();
  }

  std::mutex mutex;
  std::vector<std::function<void()>> taken;
};

TEST_F(async_on_hand_time, an_executor_that_took_a_callback_and_threw_made_it_run_twice) {
  takes_and_throws loop;
  client c = engine.connect({.completions = std::ref(loop)});
  tyer::mutex own{c, "own"};
  std::atomic<int> calls{0};
  told<hold> got;
  start_acquire(own, [&, tell = got.callback()](failure why, hold h) mutable {
    ++calls;
    tell(std::move(why), std::move(h));
  });
  EXPECT_TRUE(took(std::get<1>(got.get()))) << "on a thread of the client";
  loop.run_all();
  EXPECT_EQ(calls, 1);
}

TEST_F(async_on_hand_time, an_executor_that_took_an_observers_function_and_threw_made_it_run_twice) {
  takes_and_throws loop;
  client c = engine.connect({.completions = std::ref(loop)});
  std::atomic<int> calls{0};
  std::promise<void> seen;
  const auto watching = election{c, "own"}.observe([&](const auto&) {
    if (++calls == 1) seen.set_value();
  });
  seen.get_future().get();
  loop.run_all();
  EXPECT_EQ(calls, 1);
}

// As a loop that has ended, or empties its list.
TEST_F(async_on_hand_time, an_executor_that_dropped_a_callback_destroys_it_with_its_hold) {
  client c = engine.connect({.completions = [](const std::function<void()>&) {}});
  auto kept = std::make_shared<int>(7);
  const std::weak_ptr<int> seen = kept;
  bool called = false;
  start_acquire(mutex{c, "x"}, [&called, kept = std::move(kept)](failure, hold) { called = true; });
  EXPECT_TRUE(took(theirs.acquire()));  // behind it, or before
  EXPECT_TRUE(took(mine.acquire()));
  const auto limit = std::chrono::steady_clock::now() + 20s;  // its own client does that when it comes to it
  while (!seen.expired() && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(seen.expired());
  EXPECT_FALSE(called);
}

TEST_F(async_on_hand_time, an_executor_that_dropped_an_observers_function_muted_it_for_ever) {
  std::atomic<int> dropped{0}, calls{0};
  client c = engine.connect({.completions = [&](std::function<void()> f) {
    if (dropped++ < 2) return;
    std::thread{std::move(f)}.detach();
  }});
  const auto watching = election{c, "own", {.ttl = 3s}}.observe([&](const auto&) { ++calls; });
  for (int i = 0; i < 20 && calls == 0; ++i) engine.advance(1s);
  for (int i = 0; i < 500 && calls == 0; ++i) std::this_thread::sleep_for(10ms);  // of a thread that was started
  EXPECT_EQ(calls, 1) << "told after one of the next looks";
}

// It was: pushed into a line twice, it took the one behind it along.
TEST_F(async_on_hand_time, an_executor_that_ran_a_callback_and_threw_lost_another) {
  int left = 1;
  client* of = nullptr;
  told<hold> between;
  client c = engine.connect({.completions = [&](const std::function<void()>& f) {
    f();
    if (left-- > 0) {
      start_acquire(tyer::mutex{*of, "between"}, between.callback());
      throw std::bad_alloc{};
    }
  }});
  of = &c;
  told<hold> first, last;
  start_acquire(tyer::mutex{c, "first"}, first.callback());
  start_acquire(tyer::mutex{c, "last"}, last.callback());
  for (auto* one : {&first, &between, &last}) EXPECT_TRUE(took(std::get<1>(one->get())));
}

TEST_F(async_on_hand_time, a_closed_client_says_so_to_those_who_wait_and_to_those_who_come) {
  hold h = theirs.acquire();
  told<hold> waiting, late;
  told<> ready;
  start_acquire(mine, waiting.callback());
  a.close();
  start_acquire(mine, late.callback());
  start_wait_ready(a, 1s, ready.callback());
  EXPECT_EQ(std::get<0>(waiting.get()).code, errc::closed);
  EXPECT_EQ(std::get<0>(late.get()).code, errc::closed);
  EXPECT_EQ(std::get<0>(ready.get()).code, errc::closed);
}

// ---- upgrades

class async_upgrade_on_hand_time : public async_on_hand_time {
 protected:
  shared_mutex in_a{a, "s"}, in_b{b, "s"};
};

TEST_F(async_upgrade_on_hand_time, an_upgrade_waits_for_the_other_readers) {
  hold h = in_a.shared().acquire(), other = in_b.shared().acquire();
  told<bool> once, limited, got;
  start_try_upgrade(in_a, h, once.callback());
  EXPECT_FALSE(std::get<1>(once.get()));
  start_try_upgrade_for(in_a, h, 5s, limited.callback());
  engine.advance(5s);
  const auto [why, changed] = limited.get();
  EXPECT_FALSE(why);
  EXPECT_FALSE(changed);
  told<bool> over;
  start_try_upgrade_until(in_a, h, std::chrono::steady_clock::now(), over.callback());
  EXPECT_FALSE(std::get<1>(over.get())) << "a time that has passed is one attempt";

  start_upgrade(in_a, h, got.callback());
  engine.advance(1s);
  hold moved = std::move(h);  // it is its owner's
  EXPECT_FALSE(got.is_there());
  other.release();
  engine.advance(10ms);
  EXPECT_TRUE(std::get<1>(got.get()));
  EXPECT_EQ(moved.mode(), lock_mode::exclusive);
}

TEST_F(async_upgrade_on_hand_time, a_stopped_upgrade_leaves_the_hold_shared) {
  hold h = in_a.shared().acquire(), other = in_b.shared().acquire();
  std::stop_source stop;
  told<bool> got;
  start_upgrade(in_a, h, got.callback(), stop.get_token());
  engine.advance(1s);
  stop.request_stop();
  const auto [why, changed] = got.get();
  EXPECT_EQ(why.code, errc::cancelled);
  EXPECT_FALSE(changed);
  EXPECT_TRUE(h.valid() && h.mode() == lock_mode::shared);

  told<bool> empty;
  hold none;
  start_upgrade(in_a, none, empty.callback());
  EXPECT_EQ(std::get<0>(empty.get()).code, errc::not_held);
}

TEST_F(async_upgrade_on_hand_time, a_hold_that_is_given_back_ends_its_upgrade) {
  hold h = in_a.shared().acquire(), other = in_b.shared().acquire();
  told<bool> got;
  start_upgrade(in_a, h, got.callback());
  engine.advance(1s);
  h.release();
  EXPECT_EQ(std::get<0>(got.get()).code, errc::lost);
}

// ---- wait_ready

TEST_F(async_on_hand_time, ready_is_told_at_once_or_when_it_is_so) {
  told<> got;
  start_wait_ready(a, 5s, got.callback());
  EXPECT_FALSE(std::get<0>(got.get()));
}

// ---- several at once

class async_multi_on_hand_time : public async_on_hand_time {
 protected:
  multi_mutex all{a, {"1", "2", "3"}};
  mutex second{b, "2"}, third{b, "3"}, first{b, "1"};
};

TEST_F(async_multi_on_hand_time, all_are_taken_and_given_back) {
  told<multi_hold> got;
  start_acquire(all, got.callback());
  auto [why, h] = got.get();
  EXPECT_FALSE(why);
  ASSERT_TRUE(h.valid());
  EXPECT_EQ(h.parts().size(), 3U);
  EXPECT_FALSE(took(second.try_acquire()));
  told<release_outcome> released;
  start_release(h, released.callback());
  EXPECT_FALSE(h) << "it is empty, as after release()";
  EXPECT_EQ(std::get<1>(released.get()), release_outcome::released);
  EXPECT_TRUE(took(second.try_acquire()));
}

TEST_F(async_multi_on_hand_time, one_that_is_held_is_waited_for_until_the_limit_and_none_is_kept) {
  hold h = second.acquire();
  told<multi_hold> once, limited, got;
  start_try_acquire(all, once.callback());
  EXPECT_FALSE(took(std::get<1>(once.get())));
  // What was taken is given back in the background.
  EXPECT_TRUE(took(first.try_acquire_for(1s)));
  told<multi_hold> over;
  start_try_acquire_until(all, std::chrono::steady_clock::now(), over.callback());
  EXPECT_FALSE(took(std::get<1>(over.get()))) << "a time that has passed is one attempt";
  start_try_acquire_for(all, 5s, limited.callback());
  engine.advance(5s);
  auto [why, none] = limited.get();
  EXPECT_FALSE(why);
  EXPECT_FALSE(none);
  EXPECT_TRUE(took(first.try_acquire_for(1s)));

  start_acquire(all, got.callback());
  engine.advance(1s);
  EXPECT_FALSE(got.is_there());
  h.release();
  engine.advance(10ms);
  EXPECT_TRUE(std::get<1>(got.get()).valid());
}

TEST_F(async_multi_on_hand_time, a_stop_gives_back_what_was_taken) {
  hold h = third.acquire();
  std::stop_source stop;
  told<multi_hold> got;
  start_acquire(all, got.callback(), stop.get_token());
  engine.advance(1s);
  EXPECT_FALSE(took(first.try_acquire()));
  stop.request_stop();
  auto [why, none] = got.get();
  EXPECT_EQ(why.code, errc::cancelled);
  EXPECT_FALSE(none);
  EXPECT_TRUE(took(first.try_acquire_for(1s)));
  EXPECT_TRUE(took(second.try_acquire_for(1s)));
}

TEST_F(async_multi_on_hand_time, one_that_is_lost_while_another_is_waited_for_is_taken_again) {
  hold h = third.acquire();
  told<multi_hold> got;
  start_acquire(all, got.callback());
  engine.advance(1s);
  engine.lose_everything();
  engine.advance(30s);  // also h, which nobody has any more
  auto [why, all_of_them] = got.get();
  EXPECT_FALSE(why) << why.code.message();
  EXPECT_TRUE(all_of_them.valid());
}

TEST_F(async_multi_on_hand_time, many_stops_at_any_moment_leave_nothing_behind) {
  for (int i = 0; i < 200; ++i) {
    std::stop_source stop;
    told<multi_hold> got;
    std::jthread other{[&] { stop.request_stop(); }};
    start_acquire(all, got.callback(), stop.get_token());
    auto [why, h] = got.get();
    EXPECT_TRUE(h ? !why : why.code == errc::cancelled) << why.code.message();
  }
  for (mutex* m : {&first, &second, &third}) EXPECT_TRUE(took(m->try_acquire_for(1s)));
}

}  // namespace
}  // namespace tyer::testing_api
