// Who looks on and is slow about it: is told the latest, and is in nobody's way.
#include "unit/api/later.hpp"

#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tyer::testing_api {
namespace {

class observer_on_hand_time : public ::testing::Test {
 protected:
  testing::engine engine;
  client a = engine.connect(), b = engine.connect();
  mutex busy{b, "busy", {.ttl = 10s}};
  election office{a, "busy", {.ttl = 10s}};
};

// A callback that stays until it is let go, and what it and those after it were told.
struct slow_reader {
  void operator()(const std::optional<leadership>& now) {
    std::unique_lock lock{mutex};
    told.push_back(now ? now->term : 0);
    changed.notify_all();
    changed.wait(lock, [this] { return may_go; });
  }
  bool eventually(const std::function<bool()>& so) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, 10s, so);
  }
  void let_go() {
    const std::lock_guard lock{mutex};
    may_go = true;
    changed.notify_all();
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::uint64_t> told;
  bool may_go = false;
};

TEST_F(observer_on_hand_time, changes_piled_up_behind_a_slow_callback) {
  slow_reader reader;
  const auto watch = office.observe([&](const auto& now) { reader(now); });
  ASSERT_TRUE(reader.eventually([&] { return reader.told.size() == 1; }));
  for (int i = 0; i < 100; ++i) {
    const hold h = busy.acquire();
    EXPECT_EQ(office.current()->term, h.token());  // the client has looked at it too
  }
  const hold last = busy.acquire();
  EXPECT_EQ(office.current()->term, last.token());
  reader.let_go();
  ASSERT_TRUE(reader.eventually([&] { return reader.told.back() == last.token(); })) << "the latest is told";
  EXPECT_LE(reader.told.size(), 4U) << "and not what is over";
}

TEST_F(observer_on_hand_time, heard_nothing_of_an_engine_that_was_away) {
  std::mutex mutex;
  std::vector<std::string> told;
  const auto says = [&](const std::string& what) {
    const std::lock_guard lock{mutex};
    told.push_back(what);
  };
  const auto watch =
      office.observe([&](const auto& now) { says(now ? "led" : "nobody"); },
                     [&](const failure& why) { says(why == errc::unavailable ? "away" : why.message()); });
  const auto eventually = [&](const std::vector<std::string>& all) {
    for (int i = 0; i < 60; ++i) {
      engine.advance(1s);
      const std::lock_guard lock{mutex};
      if (told == all) return true;
    }
    return false;
  };
  EXPECT_TRUE(eventually({"nobody"}));
  engine.pause();
  EXPECT_TRUE(eventually({"nobody", "away"}));
  engine.advance(30s);
  engine.resume();
  EXPECT_TRUE(eventually({"nobody", "away", "nobody"})) << "once, and then what there is, though it is as before";
}

TEST_F(observer_on_hand_time, a_slow_callback_kept_completions_of_others_waiting_for_as_long_as_there_were_changes) {
  std::atomic<int> told{0};
  const auto watch = office.observe([&](const auto&) {
    ++told;
    std::this_thread::sleep_for(20ms);
  });
  const std::jthread changes{[&](const std::stop_token& over) {
    while (!over.stop_requested()) {
      busy.acquire().release();
      std::this_thread::sleep_for(1ms);
    }
  }};
  while (told < 3) std::this_thread::yield();
  std::promise<void> came;
  detail::complete_at(detail::home_of(busy), [] {});
  detail::complete_at(detail::home_of(office), [&] { came.set_value(); });
  EXPECT_EQ(came.get_future().wait_for(10s), std::future_status::ready);
}

TEST_F(observer_on_hand_time, a_callback_that_throws_in_the_users_executor_does_not_end_the_observation) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::function<void()>> posted;
  client_options with;
  with.completions = [&](std::function<void()> f) {
    const std::lock_guard lock{mutex};
    posted.push_back(std::move(f));
    changed.notify_all();
  };
  client c = engine.connect(with);
  const auto run_one = [&] {
    std::unique_lock lock{mutex};
    if (!changed.wait_for(lock, 10s, [&] { return !posted.empty(); })) throw std::runtime_error("nothing was told");
    const auto f = std::move(posted.back());
    posted.pop_back();
    lock.unlock();
    f();
  };
  int told = 0;
  auto watch = election{c, "busy", {.ttl = 10s}}.observe([&](const auto&) {
    if (++told == 1) throw 1;
  });
  EXPECT_THROW(run_one(), int);
  const hold h = busy.acquire();
  run_one();
  EXPECT_EQ(told, 2);
  watch = {};
}

// ---- ends inside callbacks of their own

TEST_F(observer_on_hand_time, a_hold_may_end_inside_its_own_callback) {
  hold h = busy.acquire();
  std::promise<void> ended;
  const std::stop_callback told{h.lost(), [&] {
                                  h = {};
                                  ended.set_value();
                                }};
  engine.lose(h);
  EXPECT_EQ(ended.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(busy.acquire().valid());
}

TEST_F(observer_on_hand_time, a_hold_of_several_may_end_inside_its_own_callback) {
  multi_mutex both{b, {"busy", "other"}, {.ttl = 10s}};
  std::optional<multi_hold> h{both.acquire()};
  std::promise<void> ended;
  const std::stop_callback told{h->lost(), [&] {
                                  h.reset();
                                  ended.set_value();
                                }};
  engine.lose(h->parts().front());
  EXPECT_EQ(ended.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(both.acquire().valid());
}

}  // namespace
}  // namespace tyer::testing_api
