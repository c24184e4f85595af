// Threads that wait for each other at one lock object, on time that is moved by hand: they wait as in any call.
#include "took.hpp"
#include "unit/api/later.hpp"

#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <future>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace tyer::testing_api {
namespace {

class gate_on_hand_time : public ::testing::Test {
 protected:
  // Of a thread of its own; the caller joins it, and so waits too.
  template <class F>
  auto elsewhere(F f) {
    return within_reason(std::async(std::launch::async, f));
  }

  testing::engine engine;
  client a = engine.connect(), b = engine.connect();
  mutex m{a, "k", {.ttl = 10s}}, x{a, "x", {.ttl = 10s}}, theirs{b, "x", {.ttl = 10s}};
};

TEST_F(gate_on_hand_time, a_timed_wait_for_one_that_has_lost_its_hold_never_ended) {
  m.lock();
  engine.lose(m.held());
  const auto before = engine.now();
  EXPECT_FALSE(elsewhere([&] { return m.try_lock_for(5s); }));
  EXPECT_EQ(engine.now() - before, 5s);
  m.unlock();
}

TEST_F(gate_on_hand_time, a_timed_wait_of_a_reader_for_a_writer_that_has_lost_its_hold_never_ended) {
  shared_mutex s{a, "s", {.ttl = 10s}};
  s.lock();
  engine.lose(s.held());
  const auto before = engine.now();
  EXPECT_FALSE(elsewhere([&] { return s.try_lock_shared_for(5s); }));
  EXPECT_EQ(engine.now() - before, 5s);
  EXPECT_FALSE(elsewhere([&] { return s.try_lock_for(5s); }));
  EXPECT_EQ(engine.now() - before, 10s);
  s.unlock();
}

// A thread at a gate looked every 10 ms whether the client is still there, and counted as awake each time: time did not move if
// it took longer than that to see that all sleep, as on a busy machine.
TEST_F(gate_on_hand_time, a_machine_that_was_too_slow_to_see_all_asleep_between_two_looks_stopped_time) {
  std::vector<client> many;
  for (int i = 0; i < 100; ++i) many.push_back(engine.connect());  // each is asked whether it has something to do
  m.lock();
  engine.lose(m.held());
  const auto before = engine.now();
  EXPECT_FALSE(std::async(std::launch::async, [&] { return m.try_lock_for(5s); }).get());  // however long it takes
  EXPECT_EQ(engine.now() - before, 5s);
  m.unlock();
}

// Somebody at a gate stopped time for all others.
TEST_F(gate_on_hand_time, a_wait_for_several_locks_stopped_the_time_of_everybody) {
  multi_mutex both{a, {"p", "q"}, {.ttl = 10s}};
  const hold h = theirs.acquire();
  both.lock();
  std::atomic<bool> inside{false};
  std::jthread waits{[&] {
    static_cast<void>(x.try_acquire());
    both.lock();
    inside = true;
    both.unlock();
  }};
  EXPECT_FALSE(took(x.try_acquire_for(5s)));
  EXPECT_FALSE(inside);
  both.unlock();
}

TEST_F(gate_on_hand_time, whoever_was_let_in_is_awake_before_time_moves_on) {
  multi_mutex both{a, {"p", "q"}, {.ttl = 10s}};
  const hold h = theirs.acquire();
  for (int i = 0; i < 20; ++i) {
    std::optional<lease_clock::time_point> came;
    both.lock();
    const auto opened = engine.now();
    std::latch known{1};  // time moves without a thread that has called nothing yet
    std::jthread waits{[&] {
      static_cast<void>(engine.now());
      known.count_down();
      both.lock();
      came = engine.now();
      both.unlock();
    }};
    known.wait();
    if (i % 2 == 0) std::this_thread::sleep_for(1ms);  // so it sleeps at the gate, mostly
    both.unlock();
    EXPECT_FALSE(took(x.try_acquire_for(5s)));
    waits.join();
    EXPECT_EQ(*came, opened);
  }
}

// All wait, and nothing is due: whoever moves time has nothing to do either.
TEST_F(gate_on_hand_time, waits_without_a_limit_cost_no_processor) {
  m.lock();
  engine.lose(m.held());
  const auto lock_and_unlock = [&] { const std::lock_guard in{m}; };
  auto one = std::async(std::launch::async, lock_and_unlock), two = std::async(std::launch::async, lock_and_unlock);
  std::this_thread::sleep_for(500ms);  // by now we count as somebody who waits
  const auto before = std::clock();
  std::this_thread::sleep_for(1s);
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 4);
  m.unlock();
  within_reason(std::move(one));
  within_reason(std::move(two));
}

TEST_F(gate_on_hand_time, a_recursive_lock_waits_in_the_same_way) {
  recursive_mutex r{a, "r", {.ttl = 10s}};
  r.lock();
  engine.lose(r.held());
  EXPECT_FALSE(elsewhere([&] { return r.try_lock_for(5s); }));
  r.unlock();
}

}  // namespace
}  // namespace tyer::testing_api
