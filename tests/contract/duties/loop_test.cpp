// run(): it returns at its time, and soon after wake() from any thread.
#include "contract/duties/calls.hpp"

#include <future>
#include <thread>

namespace tyer::contract {

using loop_duty = engine_contract;

TEST_F(loop_duty, wake_from_another_thread_ends_the_run) {
  std::promise<void> ran;
  std::thread waker{[&, running = ran.get_future()] {
    while (running.wait_for(1ms) == std::future_status::timeout) a.raw().wake();
  }};
  const auto before = a.now();
  a.raw().run(before + 60s);
  const auto after = a.now();
  ran.set_value();
  waker.join();
  EXPECT_LT(after, before + patience);
}

TEST_F(loop_duty, a_wake_before_the_run_is_not_lost) {
  a.round_trip();
  a.raw().wake();
  const auto before = a.now();
  a.raw().run(before + 60s);
  EXPECT_LT(a.now(), before + patience);
}

TEST_F(loop_duty, run_returns_at_its_time) {
  a.round_trip();
  const auto before = a.now();
  while (a.now() < before + 50ms) a.raw().run(before + 50ms);
  EXPECT_LT(a.now(), before + patience);
}

}  // namespace tyer::contract
