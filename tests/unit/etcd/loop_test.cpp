// The real loop, with its threads, its sockets and a server that does what the test says.
#include "core/clock.hpp"
#include "engines/etcd/wire/wire.hpp"
#include "unit/etcd/socket_server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace tyer::etcd::wire {
namespace {

using namespace std::chrono_literals;

constexpr const char* method = "/pkg.Service/Method";

struct etcd_loop : ::testing::Test {
  bool seen(const std::function<bool()>& it) const {
    for (const auto end = clock.now() + 10s; clock.now() < end; std::this_thread::sleep_for(1ms)) {
      if (it()) return true;
    }
    return it();
  }
  // Runs until then.
  bool run_until(const std::function<bool()>& it) {
    for (const auto end = clock.now() + 10s; clock.now() < end && !it();) loop.run(clock.now() + 20ms);
    return it();
  }
  // So that what is asked later has a connection.
  void be_connected() {
    bool over = false;
    call({to, method, {}}, "x", 10s, [&](const status&, const std::string&) { over = true; });
    ASSERT_TRUE(run_until([&] { return over; }));
  }

  const core::boot_clock clock;
  std::atomic<bool> asked{false}, answered{false};
  socket_server server{[](server_end& s, std::int32_t stream) { socket_server::answer(s, stream, "answer"); }};
  class loop loop{clock};
  const std::shared_ptr<channel> to = connect(loop, {"127.0.0.1", server.port()}, {}, 10s);
};

// It was: whoever ran the loop heard the timer, asked, and did not come back. What it had asked was never sent.
TEST_F(etcd_loop, what_a_timer_asked_for_was_never_sent_when_nobody_ran_the_loop_any_more) {
  be_connected();
  after(loop, 10ms, [&] {
    asked = true;
    call({to, method, {}, told::anywhere}, "x", 10s, [&](const status& s, const std::string&) { answered = s.ok(); });
  });
  ASSERT_TRUE(run_until([&] { return asked.load(); }));
  EXPECT_TRUE(seen([&] { return server.requests() == 2; }));
  EXPECT_TRUE(seen([&] { return answered.load(); }));
}

// The same with calls that are asked for between two turns.
TEST_F(etcd_loop, what_may_be_told_anywhere_was_never_sent_when_nobody_ran_the_loop_any_more) {
  be_connected();
  call({to, method, {}, told::anywhere}, "x", 10s, [&](const status& s, const std::string&) { answered = s.ok(); });
  EXPECT_TRUE(seen([&] { return answered.load(); }));
}

// It was: the thread that runs took the turn again before the other was awake, thousands of times.
TEST_F(etcd_loop, whoever_wanted_a_turn_was_overtaken_by_the_thread_that_runs) {
  std::atomic<bool> over{false};
  std::atomic<int> rounds{0};
  std::thread driver{[&] {
    for (; !over; ++rounds) loop.run(clock.now() + 1s);
  }};
  int most = 0;
  for (int i = 0; i < 1000; ++i) {
    std::this_thread::sleep_for(100us);  // it waits for something to happen
    const int before = rounds;
    static_cast<void>(is_connecting(*to));
    most = std::max(most, rounds - before);
  }
  over = true;
  loop.wake();
  driver.join();
  EXPECT_LE(most, 10);
}

// Jumps when it has been asked so often: whoever asks was stopped just before.
class jumping_clock final : public core::clock {
 public:
  lease_clock::time_point now() const noexcept override {
    if (left_ > 0 && --left_ == 0) jumped_ = jumped_.load() + 4s;
    return lease_clock::now() + jumped_.load();
  }
  bool flows() const noexcept override { return true; }
  void jump_at(int question) { left_ = question; }

 private:
  mutable std::atomic<int> left_{0};
  mutable std::atomic<lease_clock::duration> jumped_{lease_clock::duration::zero()};
};

// It was: a process that was stopped while it waited for I/O gave up what took too long before it read what had come meanwhile.
TEST(etcd_stopped, an_answer_that_had_come_in_time_was_given_up) {
  jumping_clock clock;
  socket_server server{[](server_end& s, std::int32_t stream) {
    std::this_thread::sleep_for(10ms);
    socket_server::answer(s, stream, "answer");
  }};
  class loop loop{clock};
  const auto to = connect(loop, {"127.0.0.1", server.port()}, {}, 60s);
  for (int question = 1; question <= 8; ++question) {
    bool over = false;
    status end;
    call({to, method, {}}, "x", 3s, [&](status s, const std::string&) {
      over = true;
      end = std::move(s);
    });
    while (!over && server.requests() < question) loop.run(clock.now());  // it leaves, and is not waited for
    std::this_thread::sleep_for(50ms);                                    // it is answered
    if (!over && question > 1) clock.jump_at(question - 1);
    while (!over) loop.run(clock.now() + 20ms);
    EXPECT_TRUE(end.ok()) << question << ": " << end.words;
  }
}

}  // namespace
}  // namespace tyer::etcd::wire
