// Who shares a lane with whom: those who want the same, and may have what was asked for another; and who asks for itself.
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

// ---- readers and permits side by side

struct readers : ::testing::Test {
  bench b;
  std::shared_ptr<runtime::spec> lock = bench::readers_of(*bench::make_lock("order", 9s, 16));

  bench::caller try_once() { return b.want(lock, false); }
  bench::caller want(std::optional<lease::duration> limit = {}) { return b.want(lock, true, limit); }
};

// Went wrong: they were asked for one after the other, and each had only request_timeout from its call: at 50 ms for an answer
// the forty-first was told that the engine does not answer.
TEST_F(readers, a_healthy_engine_was_told_as_an_outage_to_the_last_of_many_tries) {
  std::vector<bench::caller> all;
  for (int i = 0; i < 100; ++i) all.push_back(try_once());
  EXPECT_EQ(b.engine.acquires.size(), 100u);
  for (int i = 0; i < 100; ++i) {
    b.pass(50ms);
    for (auto& a : b.engine.acquires) {
      if (!a.answered() && b.clock.now() - a.sent >= 50ms) a.grant(1);
    }
    b.answer_keeps();
  }
  for (const auto& c : all) {
    EXPECT_TRUE(c->hold);
    EXPECT_FALSE(c->why) << c->why.words;
  }
  for (const auto& c : all) b.give_back(c);
  EXPECT_TRUE(b.coordinator.drained());
}

TEST_F(readers, who_wait_with_a_limit_are_asked_for_side_by_side_too) {
  std::vector<bench::caller> all;
  for (int i = 0; i < 100; ++i) all.push_back(want(1s));
  EXPECT_EQ(b.engine.acquires.size(), 100u);
  b.pass(50ms);
  for (auto& a : b.engine.acquires) a.grant(1);
  for (const auto& c : all) EXPECT_TRUE(c->hold);
}

// Went wrong: the request of a try does not queue. The try was handed a hold of this client before its answer came, and the
// answer, that others have the lock, was nobody's: who waited behind the try was never asked for again.
TEST_F(readers, a_waiter_behind_a_try_that_was_handed_the_lock_waited_for_ever) {
  auto first = want();
  b.engine.acquires[0].grant(1);
  auto hasty = try_once();
  auto patient = want();
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  EXPECT_FALSE(b.engine.acquires[1].what.enqueue);
  b.confirm();
  b.give_back(first);
  ASSERT_TRUE(hasty->hold) << "handed off";
  b.engine.acquires[1].busy(1s);
  EXPECT_EQ(patient->times, 0);
  ASSERT_EQ(b.engine.acquires.size(), 3u) << "it is asked for now";
  EXPECT_TRUE(b.engine.acquires[2].what.enqueue);
  b.engine.acquires[2].grant(2);
  EXPECT_TRUE(patient->hold);
}

// Its sibling: after request_timeout, the patience of the try, the one who waited behind it was told of an outage.
TEST_F(readers, a_waiter_behind_a_try_that_was_handed_the_lock_had_only_the_patience_of_the_try) {
  auto first = want();
  b.engine.acquires[0].grant(1);
  auto hasty = try_once();
  auto patient = want();
  b.confirm();
  b.give_back(first);
  ASSERT_TRUE(hasty->hold);
  for (int i = 0; i < 30; ++i) {
    for (auto& a : b.engine.acquires) {
      if (!a.answered()) a.fail(why::unknown);
    }
    b.pass(100ms);
  }
  EXPECT_EQ(patient->times, 0) << patient->why.words;
}

TEST_F(readers, one_after_the_other_need_one_request_each) {
  for (std::size_t i = 1; i <= 3; ++i) {
    auto c = try_once();
    ASSERT_EQ(b.engine.acquires.size(), i);
    b.engine.acquires.back().grant(i);
    EXPECT_TRUE(c->hold);
  }
}

TEST_F(readers, behind_one_who_queues_make_no_request) {
  auto first = want();
  b.engine.acquires[0].queue(1, 1s);
  auto second = want(), third = try_once();
  EXPECT_EQ(b.engine.acquires.size(), 1u);
  EXPECT_EQ(second->times, 0);
  EXPECT_EQ(third->times, 1);
  EXPECT_FALSE(third->why) << "others are in the way, and the engine has said so";
}

TEST_F(readers, who_asked_for_themselves_are_refused_and_called_off_for_themselves) {
  auto first = try_once(), second = try_once(), third = want(10s);
  b.engine.acquires[1].busy(1s);
  EXPECT_EQ(first->times, 0);
  EXPECT_EQ(second->times, 1);
  EXPECT_FALSE(second->why);
  b.engine.acquires[2].queue(1, 1s);
  b.coordinator.cancel(third.acquisition, errc::cancelled);
  EXPECT_EQ(third->why.code, errc::cancelled);
  ASSERT_EQ(b.engine.releases.size(), 1u);
  b.engine.releases[0].answer(fate::waiting);
  b.engine.acquires[0].grant(1);
  EXPECT_TRUE(first->hold);
  b.give_back(first);
  EXPECT_TRUE(b.coordinator.drained());
}

TEST_F(readers, hand_on_to_the_others_what_they_asked_for_by_themselves) {
  auto first = try_once(), second = try_once();
  b.engine.acquires[0].grant(1);
  b.engine.acquires[1].grant(1);
  auto waits = want();
  b.engine.acquires[2].queue(1, 1s);
  b.confirm();
  b.coordinator.give_back(second->hold, {});
  EXPECT_TRUE(waits->hold) << "without the engine";
}

TEST_F(readers, who_asked_for_themselves_end_with_the_client) {
  auto first = try_once(), second = try_once(), third = want(10s), fourth = want();
  b.coordinator.close();
  for (const auto& c : {first, second, third, fourth}) EXPECT_EQ(c->why.code, errc::closed);
}

// ---- what an engine is told of one is not told of another

// Went wrong: a second leader of the same name published the address of the first.
TEST(coordinator_lanes, a_second_object_of_a_name_had_the_note_of_the_first) {
  bench b;
  auto a = bench::make_lock("job", 9s, 16), c = bench::make_lock("job", 9s, 16);
  a->note = "old-address:1";
  c->note = "new-address:2";
  auto first = b.want(a);
  auto second = b.want(c);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  EXPECT_NE(b.engine.acquires[0].owner.find("old-address:1"), std::string::npos);
  EXPECT_NE(b.engine.acquires[1].owner.find("new-address:2"), std::string::npos);
  b.engine.acquires[0].grant(1);
  b.engine.acquires[1].queue(0, 1s);
  b.confirm();
  b.give_back(first);
  EXPECT_EQ(second->times, 0) << "the engine must be told of the new one";
}

TEST(coordinator_lanes, a_second_object_of_a_name_had_the_waiter_ttl_of_the_first) {
  bench b;
  auto a = bench::make_lock("job", 9s), c = bench::make_lock("job", 9s);
  a->waiter_ttl = 1h;
  c->waiter_ttl = 500ms;
  b.give_back(b.held());
  auto first = b.want(a);
  b.engine.acquires.back().grant(1);
  b.give_back(first);
  b.want(c);
  EXPECT_EQ(b.engine.acquires.back().what.waiter_ttl, 500ms);
}

TEST(coordinator_lanes, a_second_object_of_a_name_had_the_hand_offs_of_the_first) {
  bench b;
  auto first = b.want(bench::make_lock("job", 9s, 16));
  b.engine.acquires.back().grant(1);
  b.give_back(first);
  const auto none = bench::make_lock("job", 9s, 0);
  auto mine = b.want(none);
  b.engine.acquires.back().grant(2);
  auto next = b.want(none);
  b.confirm();
  b.give_back(mine);
  EXPECT_EQ(next->times, 0) << "by the engine only";
  b.engine.acquires.back().grant(3);
  EXPECT_EQ(next->hold->token(), core::make_token(3, 0));
}

// ---- behind too many requests

// Went wrong: a request that had to wait for its turn had no time of its own.
TEST(coordinator_lanes, a_try_behind_too_many_requests_was_not_bounded) {
  bench b{{.asks_in_flight_max = 4}};
  for (int i = 0; i < 8; ++i) b.want(bench::make_lock("n" + std::to_string(i), 9s));
  ASSERT_EQ(b.engine.acquires.size(), 4u);
  auto tries = b.try_once();
  b.pass(1999ms);
  EXPECT_EQ(tries->times, 0);
  b.pass(1ms);
  ASSERT_EQ(tries->times, 1);
  EXPECT_EQ(tries->why.code, errc::unavailable);
  EXPECT_NE(tries->why.words, "");
  EXPECT_TRUE(b.engine.releases.empty()) << "nothing was sent, so nothing is to be taken back";
  EXPECT_EQ(b.coordinator.tickets(), 8u);
}

TEST(coordinator_lanes, a_wait_behind_too_many_requests_ends_like_one_through_an_outage) {
  bench b{{.unavailable_after = 10s, .asks_in_flight_max = 4}};
  for (int i = 0; i < 8; ++i) b.want(bench::make_lock("n" + std::to_string(i), 9s));
  auto waits = b.want();
  b.pass(10s);
  EXPECT_EQ(waits->why.code, errc::unavailable);
}

// Went wrong: of 100,000 names that a client locked at once those were refused after 30 s whose turn had not come, though the engine
// answered thousands of others each second.
TEST(coordinator_lanes, a_wait_behind_requests_that_are_answered_was_told_that_the_engine_is_away) {
  bench b{{.unavailable_after = 10s, .asks_in_flight_max = 4}};
  for (int i = 0; i < 8; ++i) b.want(bench::make_lock("n" + std::to_string(i), 9s));
  auto waits = b.want();
  for (int i = 0; i < 3; ++i) {
    b.pass(6s);
    b.engine.acquires[static_cast<std::size_t>(i)].grant(1);
  }
  b.pass(9999ms);
  EXPECT_EQ(waits->times, 0) << "the engine answers";
  b.pass(1ms);
  EXPECT_EQ(waits->why.code, errc::unavailable) << "it has fallen silent";
}

TEST(coordinator_lanes, one_whose_request_has_just_left_was_told_that_the_engine_is_away) {
  bench b{{.unavailable_after = 10s, .asks_in_flight_max = 4}};
  for (int i = 0; i < 4; ++i) b.want(bench::make_lock("n" + std::to_string(i), 9s));
  auto waits = b.want();
  b.pass(9s);
  b.engine.acquires[0].grant(1);
  ASSERT_EQ(b.engine.acquires.size(), 5u) << "it has left";
  b.pass(9999ms);
  EXPECT_EQ(waits->times, 0);
  b.pass(1ms);
  EXPECT_EQ(waits->why.code, errc::unavailable);
}

}  // namespace
}  // namespace tyer::testing
