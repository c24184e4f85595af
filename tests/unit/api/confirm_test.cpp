// Asking the engine now whether a hold stands.
#include "unit/api/later.hpp"

#include <tyer/async.hpp>
#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace tyer::testing_api {
namespace {

class confirm_on_hand_time : public ::testing::Test {
 protected:
  struct told {
    failure why;
    bool stands;
  };
  template <class Hold>
  static std::future<told> confirm_later(const Hold& h, std::stop_token stop = {}) {
    auto promise = std::make_shared<std::promise<told>>();
    auto answer = promise->get_future();
    start_confirm(
        h, [promise](failure f, bool stands) { promise->set_value({std::move(f), stands}); }, std::move(stop));
    return answer;
  }

  testing::engine engine;
  client a = engine.connect({.request_timeout = 2s}), b = engine.connect();
  mutex m{a, "k", {.ttl = 30s}}, theirs{b, "k", {.ttl = 30s}};
  failure why;
};

TEST_F(confirm_on_hand_time, a_hold_that_stands_is_renewed_by_it) {
  const hold h = m.acquire();
  engine.advance(5s);
  const auto before = h.valid_until();
  EXPECT_TRUE(h.confirm());
  EXPECT_EQ(h.valid_until() - before, 5s);
  EXPECT_TRUE(h.confirm(why));
  EXPECT_FALSE(why);
}

TEST_F(confirm_on_hand_time, a_hold_that_is_lost_is_told_as_lost_and_not_as_an_error) {
  const hold h = m.acquire();
  engine.lose(h);
  EXPECT_FALSE(h.confirm());
  EXPECT_FALSE(h.confirm(why));
  EXPECT_FALSE(why) << why.message();
}

TEST_F(confirm_on_hand_time, silence_is_an_error_within_request_timeout_and_no_verdict) {
  const hold h = m.acquire();
  engine.pause();
  const auto before = engine.now();
  EXPECT_FALSE(h.confirm(why));
  EXPECT_EQ(why, errc::unavailable) << why.message();
  EXPECT_EQ(engine.now() - before, 2s);
  EXPECT_TRUE(h.valid());
  EXPECT_FALSE(h.lost().stop_requested());
  EXPECT_THROW(static_cast<void>(h.confirm()), error);
  engine.resume();
  EXPECT_TRUE(h.confirm());
}

TEST_F(confirm_on_hand_time, several_stand_if_every_one_of_them_does) {
  const multi_mutex several{a, {"x", "y", "z"}, {.ttl = 30s}};
  multi_hold h;
  EXPECT_FALSE(h.confirm(why));
  EXPECT_EQ(why, errc::not_held);
  EXPECT_THROW(static_cast<void>(h.confirm()), error);
  h = several.acquire();
  engine.advance(5s);
  const auto before = h.valid_until();
  EXPECT_TRUE(h.confirm());
  EXPECT_EQ(h.valid_until() - before, 5s) << "all of them are renewed";
  engine.lose(h.parts()[2]);
  EXPECT_FALSE(h.confirm(why));
  EXPECT_FALSE(why) << why.message();
  EXPECT_TRUE(h.parts()[0].valid());
}

TEST_F(confirm_on_hand_time, of_several_silence_is_told_once_and_is_no_verdict) {
  const multi_mutex several{a, {"x", "y", "z"}, {.ttl = 30s}};
  const multi_hold h = several.acquire();
  engine.pause();
  const auto before = engine.now();
  EXPECT_FALSE(h.confirm(why));
  EXPECT_EQ(why, errc::unavailable) << why.message();
  EXPECT_EQ(engine.now() - before, 2s) << "once for all of them";
  EXPECT_TRUE(h.valid());
  engine.resume();
  EXPECT_TRUE(h.confirm());
}

TEST_F(confirm_on_hand_time, of_several_asked_about_the_second_when_the_first_was_answered) {
  const multi_mutex several{a, {"x", "y"}, {.ttl = 30s}};
  const multi_hold h = several.acquire();
  engine.advance(5s);
  const auto before = h.parts()[1].valid_until();
  engine.lose_next_reply();
  EXPECT_FALSE(h.confirm(why));
  EXPECT_EQ(why, errc::unavailable) << why.message();
  EXPECT_EQ(h.parts()[1].valid_until() - before, 5s) << "both were asked about at once";
}

TEST_F(confirm_on_hand_time, a_release_of_several_asked_for_the_second_when_the_first_was_answered) {
  const multi_mutex several{a, {"x", "y"}, {.ttl = 30s}};
  multi_hold h = several.acquire();
  std::promise<lease_clock::time_point> got;
  start_acquire(mutex{b, "y"}, [&](const failure&, const hold&) { got.set_value(engine.now()); });
  ASSERT_TRUE(engine.wait_for_waiters("y", 1));
  const auto before = engine.now();
  engine.lose_next_reply();
  EXPECT_EQ(h.release(), release_outcome::released) << "the first was done, and is found to be when it is asked again";
  EXPECT_EQ(within_reason(got.get_future()), before);
}

TEST_F(confirm_on_hand_time, several_are_asked_about_without_waiting_too) {
  const multi_mutex several{a, {"x", "y", "z"}, {.ttl = 30s}};
  multi_hold h;
  EXPECT_EQ(within_reason(confirm_later(h)).why, errc::not_held);
  h = several.acquire();
  engine.advance(5s);
  const auto before = h.valid_until();
  EXPECT_TRUE(within_reason(confirm_later(h)).stands);
  EXPECT_EQ(h.valid_until() - before, 5s) << "all of them are renewed";
  engine.lose(h.parts()[1]);
  auto asked = confirm_later(h);
  h = {};  // it may end meanwhile
  const auto lost = within_reason(std::move(asked));
  EXPECT_FALSE(lost.why) << lost.why.message();
  EXPECT_FALSE(lost.stands);
}

TEST_F(confirm_on_hand_time, of_several_a_known_loss_outweighs_silence_about_the_others) {
  testing::engine silent;
  const client c = silent.connect({.request_timeout = 2s});
  const multi_mutex several{{{a, "x"}, {c, "y"}}, {.ttl = 30s}};
  const multi_hold h = several.acquire();
  silent.pause();
  auto asked = confirm_later(h);
  silent.advance(2s);
  EXPECT_EQ(within_reason(std::move(asked)).why, errc::unavailable);
  engine.lose(h.parts()[0]);
  asked = confirm_later(h);
  silent.advance(2s);
  const auto lost = within_reason(std::move(asked));
  EXPECT_FALSE(lost.why) << lost.why.message();
  EXPECT_FALSE(lost.stands);
}

TEST_F(confirm_on_hand_time, an_empty_hold_has_nothing_to_confirm) {
  hold h;
  EXPECT_FALSE(h.confirm(why));
  EXPECT_EQ(why, errc::not_held);
  h = m.acquire();
  a.close();
  EXPECT_FALSE(h.confirm(why)) << "the client was closed: it is given back";
  EXPECT_FALSE(why) << why.message();
}

TEST_F(confirm_on_hand_time, the_hold_of_a_guard_can_be_confirmed) {
  const std::scoped_lock in{m};
  EXPECT_TRUE(m.held().confirm());
}

TEST_F(confirm_on_hand_time, is_asked_without_waiting_too) {
  const hold h = m.acquire();
  const auto yes = within_reason(confirm_later(h));
  EXPECT_TRUE(yes.stands && !yes.why);
  engine.lose(h);
  const auto no = within_reason(confirm_later(h));
  EXPECT_TRUE(!no.stands && !no.why);
  EXPECT_EQ(within_reason(confirm_later(hold{})).why, errc::not_held);
}

TEST_F(confirm_on_hand_time, nobody_has_to_wait_for_it) {
  const hold h = m.acquire();
  engine.pause();
  std::stop_source stop;
  auto answer = confirm_later(h, stop.get_token());
  EXPECT_EQ(answer.wait_for(0s), std::future_status::timeout);
  stop.request_stop();
  EXPECT_EQ(within_reason(std::move(answer)).why, errc::cancelled);
  EXPECT_EQ(within_reason(confirm_later(h, stop.get_token())).why, errc::cancelled);
}

// Whether the question or the closing came first is a matter of chance, and of no matter to the one who asked.
TEST_F(confirm_on_hand_time, closing_the_client_gives_back_what_was_to_be_confirmed_and_is_no_error) {
  const hold h = m.acquire();
  engine.pause();
  auto closed = confirm_later(h);
  a.close();
  const auto [error, stands] = within_reason(std::move(closed));
  EXPECT_FALSE(error) << error.message();
  EXPECT_FALSE(stands);
  EXPECT_FALSE(h.valid());
}

TEST_F(confirm_on_hand_time, what_waits_is_not_made_longer_than_its_max_hold) {
  mutex brief{a, "brief", {.ttl = 10s, .max_hold = 6s}};
  const hold h = brief.acquire();
  const auto end = h.valid_until();
  engine.advance(1s);
  EXPECT_TRUE(h.confirm());
  EXPECT_LE(h.valid_until(), end);
}

// On a thread of the client, where nobody is above it who could catch.
void lose_with_a_callback_that_throws() {
  testing::engine engine;
  client a = engine.connect();
  const hold h = mutex{a, "k"}.acquire();
  const std::stop_callback on_loss{h.lost(), [] { throw 1; }};
  engine.lose(h);
  std::this_thread::sleep_for(10s);  // never that long
}

TEST(callbacks, that_throw_end_the_process) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(lose_with_a_callback_that_throws(), "terminate");
}

}  // namespace
}  // namespace tyer::testing_api
