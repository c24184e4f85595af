#include "runtime/watch.hpp"

#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

namespace tyer::testing {
namespace {

// The real thread of the alarms, on a clock that is moved by hand: look() returns when everything due was told.
struct alarms {
  hand_clock clock;
  runtime::watch watch{clock};
  std::shared_ptr<runtime::spec> lock = bench::make_lock("order", 10s);

  hold_ptr hold() {
    const auto until = lease::valid_until(clock.now(), lock->ttl);
    auto h = std::make_shared<tyer::detail::hold_state>(
        lock, counted_ids{}.next(),
        tyer::detail::hold_state::grant{
            1, clock.now(), until, lease::alarm_at(until, lock->ttl), engine::mode::exclusive, {}});
    watch.guard(h);
    return h;
  }
  void move(lease::duration d) {
    clock.move(d);
    watch.look();
  }
};

TEST(watch, tells_lost_before_the_end) {
  alarms a;
  const auto h = a.hold();
  a.move(8999ms);
  EXPECT_FALSE(h->lost().stop_requested());
  a.move(1ms);
  EXPECT_TRUE(h->lost().stop_requested());
  EXPECT_LT(a.clock.now(), h->valid_until());
  EXPECT_EQ(h->where(), phase::lost);
}

TEST(watch, a_renewed_hold_is_left_alone_until_its_new_end) {
  alarms a;
  const auto h = a.hold();
  h->extend(h->valid_until() + 3s, h->alarm_at() + 3s);
  a.move(9s);
  EXPECT_FALSE(h->lost().stop_requested());
  a.move(3s);
  EXPECT_TRUE(h->lost().stop_requested());
}

TEST(watch, a_hold_that_was_given_back_is_never_lost) {
  alarms a;
  const auto h = a.hold();
  EXPECT_TRUE(h->end(phase::released));
  a.move(100s);
  EXPECT_FALSE(h->lost().stop_requested());
}

TEST(watch, after_a_pause_valid_is_false_before_anybody_was_told) {
  alarms a;
  const auto h = a.hold();
  a.clock.move(1h);
  EXPECT_FALSE(h->valid(a.clock.now()));
  EXPECT_FALSE(h->lost().stop_requested());
  a.watch.look();
  EXPECT_TRUE(h->lost().stop_requested());
}

TEST(watch, tells_of_a_loss_that_the_coordinator_has_found) {
  alarms a;
  const auto h = a.hold();
  std::atomic<bool> called{false};
  std::stop_callback on_lost{h->lost(), [&] { called = true; }};
  ASSERT_TRUE(h->end(phase::lost));
  a.watch.tell(h);
  a.watch.stop();
  EXPECT_TRUE(called);
}

TEST(watch, a_callback_may_call_the_watch) {
  alarms a;
  const auto h = a.hold();
  hold_ptr another;
  std::stop_callback on_lost{h->lost(), [&] { another = a.hold(); }};
  a.move(9s);
  ASSERT_TRUE(another);
  a.move(9s);
  EXPECT_TRUE(another->lost().stop_requested());
}

// ---- somebody else's code is slow

// Comes true within a time that only a test that fails takes.
bool soon(const std::stop_token& t) {
  for (int i = 0; i < 20'000 && !t.stop_requested(); ++i) std::this_thread::sleep_for(1ms);
  return t.stop_requested();
}

TEST(watch, a_slow_completion_does_not_delay_lost) {
  alarms a;
  const auto h = a.hold();
  std::atomic<bool> told{false};
  std::atomic<int> under_way{0};
  a.watch.run_soon(std::make_shared<runtime::plain_completion>([&] {
    ++under_way;
    told = soon(h->lost());
  }));
  while (under_way == 0) std::this_thread::yield();
  a.move(9s);  // returns when the completion does, and that waits for lost()
  EXPECT_TRUE(told);
}

TEST(watch, a_slow_callback_of_lost_does_not_delay_the_others) {
  alarms a;
  std::vector<hold_ptr> all;
  for (int i = 0; i < 10; ++i) all.push_back(a.hold());
  // All but the last wait until the last was told: each has a thread of its own by then.
  std::atomic<int> in_time{0};
  std::vector<std::unique_ptr<std::stop_callback<std::function<void()>>>> slow;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    slow.push_back(std::make_unique<std::stop_callback<std::function<void()>>>(
        all[i]->lost(), [&] { in_time += soon(all.back()->lost()) ? 1 : 0; }));
  }
  a.move(9s);
  EXPECT_EQ(in_time, 9);
}

TEST(watch, a_slow_callback_of_lost_does_not_keep_the_others_valid) {
  alarms a;
  const auto first = a.hold(), second = a.hold();
  std::atomic<bool> over{false};
  std::stop_callback slow{first->lost(), [&] { over = second->where() == phase::lost; }};
  a.move(9s);
  EXPECT_TRUE(over) << "all that are over have ended before the first is told";
}

TEST(watch, a_slow_callback_of_revoked_does_not_delay_lost) {
  alarms a;
  const auto asked = a.hold(), h = a.hold();
  std::atomic<bool> told{false};
  std::stop_callback slow{asked->revoked(), [&] { told = soon(h->lost()); }};
  a.watch.ask(asked);
  a.move(9s);
  EXPECT_TRUE(told);
}

// More slow callbacks than there are threads: the rest wait, and nobody is forgotten.
TEST(watch, the_number_of_threads_is_bounded_and_everybody_is_told) {
  alarms a;
  std::vector<hold_ptr> all;
  std::vector<std::unique_ptr<std::stop_callback<std::function<void()>>>> slow;
  std::atomic<int> at_once{0}, most{0}, told{0};
  for (int i = 0; i < 40; ++i) {
    all.push_back(a.hold());
    slow.push_back(std::make_unique<std::stop_callback<std::function<void()>>>(all.back()->lost(), [&] {
      const int now = ++at_once;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {}
      std::this_thread::sleep_for(20ms);
      --at_once;
      ++told;
    }));
  }
  a.move(9s);
  EXPECT_EQ(told, 40);
  EXPECT_LE(most, static_cast<int>(runtime::herald::helpers_max) + 1);
}

TEST(watch, may_be_destroyed_by_a_callback_while_another_is_slow) {
  auto a = std::make_unique<alarms>();
  const auto slow = a->hold(), last = a->hold();
  std::atomic<bool> go{false}, gone{false}, ended{false};
  std::stop_callback waits{slow->lost(), [&] {
                             while (!go) std::this_thread::yield();
                             ended = true;
                           }};
  std::stop_callback destroys{last->lost(), [&] {
                                a->watch.stop();
                                gone = true;
                              }};
  a->clock.move(9s);
  std::thread looks{[&] { a->watch.look(); }};
  while (!gone) std::this_thread::yield();
  go = true;
  looks.join();
  a.reset();
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace tyer::testing
