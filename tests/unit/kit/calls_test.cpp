// One reply to every call: exactly once, never inline, within the time-out, before the engine is closed.
#include "unit/kit/calls_fixture.hpp"

#include <new>

namespace tyer::kit {
namespace {

// ---- once

TEST_F(calls_test, a_call_is_answered_with_what_the_engine_says_and_dated_by_its_sending) {
  const auto c = make();
  const auto made = now;
  now += 500ms;
  step([&] { answer(*c); });
  EXPECT_EQ(c->times, 1);
  EXPECT_EQ(std::get<fate>(c->said), fate::holding);
  EXPECT_EQ(c->sent, made);
}

TEST_F(calls_test, an_answer_may_be_dated_by_an_earlier_request) {
  const auto c = make();
  c->is->counts_from = now - 100ms;
  step([&] { answer(*c); });
  EXPECT_EQ(c->sent, now - 100ms);
}

TEST_F(calls_test, the_first_answer_counts) {
  const auto c = make();
  step([&] {
    answer(*c, fate::gone);
    answer(*c, fate::holding);
    fail(*c);
  });
  pass(timeout);
  EXPECT_EQ(c->times, 1);
  EXPECT_EQ(std::get<fate>(c->said), fate::gone);
}

TEST_F(calls_test, a_failure_is_an_answer_too) {
  const auto c = make();
  step([&] { fail(*c); });
  step([&] { answer(*c); });
  EXPECT_EQ(c->times, 1);
  ASSERT_NE(c->wrong(), nullptr);
  EXPECT_EQ(c->wrong()->kind, why::refused);
}

TEST_F(calls_test, what_has_been_achieved_is_the_answer_whatever_becomes_of_the_rest) {
  const auto a = make(), b = make(), c = make();
  for (const auto& each : {a, b, c}) each->is->achieved = fate::waiting;
  step([&] { fail(*a); });
  step([&] { answer(*b, fate::holding); });
  EXPECT_EQ(c->times, 0) << "the rest is still waited for";
  pass(timeout);
  EXPECT_EQ(std::get<fate>(a->said), fate::waiting) << "though it failed";
  EXPECT_EQ(std::get<fate>(b->said), fate::holding) << "an answer says more";
  EXPECT_EQ(std::get<fate>(c->said), fate::waiting) << "though it took too long";
}

TEST_F(calls_test, the_engine_knows_that_a_call_is_over_before_its_caller_does) {
  std::vector<std::string> order;
  const auto a = make([&] { order.emplace_back("told"); }), b = make([&] { order.emplace_back("told"); });
  for (const auto& each : {a, b}) each->is->when_over = [&] { order.emplace_back("over"); };
  step([&] { answer(*a); });
  EXPECT_EQ(order, (std::vector<std::string>{"over", "told"}));
  fail(*b);  // outside of a step
  EXPECT_EQ(order.size(), 3u);
  answer(*b);
  step();
  EXPECT_EQ(order, (std::vector<std::string>{"over", "told", "over", "told"})) << "once";
}

TEST_F(calls_test, a_second_answer_before_the_first_is_delivered_does_not_replace_it) {
  const auto c = make();
  answer(*c, fate::gone);
  answer(*c, fate::holding);
  step();
  EXPECT_EQ(c->times, 1);
  EXPECT_EQ(std::get<fate>(c->said), fate::gone);
}

TEST_F(calls_test, when_it_was_told_nothing_is_kept) {
  const auto c = make();
  step([&] { answer(*c); });
  EXPECT_TRUE(c->reply.expired()) << "not even by one who still has the call";
  EXPECT_TRUE(c->is->over());
  EXPECT_TRUE(all.drained());
}

// ---- never inline

TEST_F(calls_test, what_is_answered_outside_of_a_step_waits_for_one) {
  const auto c = make();
  answer(*c);
  EXPECT_EQ(c->times, 0);
  EXPECT_TRUE(c->is->over());
  EXPECT_EQ(all.due(), time_point::min()) << "so that nobody sleeps";
  step();
  EXPECT_EQ(c->times, 1);
  EXPECT_EQ(all.due(), time_point::max());
}

TEST_F(calls_test, in_a_step_an_answer_is_delivered_at_once) {
  const auto c = make();
  step([&] {
    answer(*c);
    EXPECT_EQ(c->times, 1) << "what comes after it in the step comes after it for the caller too";
  });
}

TEST_F(calls_test, a_call_that_a_reply_makes_is_not_answered_inside_of_it) {
  caller_ptr second;
  const auto first = make([&] {
    second = make();
    answer(*second);
    EXPECT_EQ(second->times, 0);
  });
  step([&] { answer(*first); });
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->times, 1) << "at the end of the step";
}

TEST_F(calls_test, nobody_else_is_answered_while_a_call_is_being_made_in_a_reply) {
  const auto other = make();
  const auto first = make([&] {
    make();  // which ends the other one, as a release does that comes while it is acquired
    answer(*other);
    EXPECT_EQ(other->times, 0);
  });
  step([&] { answer(*first); });
  EXPECT_EQ(other->times, 1);
}

TEST_F(calls_test, a_reply_that_calls_again_and_again_does_not_keep_the_loop_for_itself) {
  int made = 0;
  std::function<void()> again = [&] {
    if (++made > 1000) return;
    answer(*make(again));
  };
  const auto first = make(again);
  step([&] { answer(*first); });
  EXPECT_LE(made, 3);
  EXPECT_EQ(all.due(), time_point::min()) << "it goes on in the next";
  for (int n = 0; n < 1100; ++n) step();
  EXPECT_EQ(made, 1001);
  EXPECT_TRUE(all.drained());
}

TEST_F(calls_test, replies_come_in_the_order_of_the_answers) {
  std::vector<int> order;
  const auto a = make([&] { order.push_back(1); }), b = make([&] { order.push_back(2); }),
             c = make([&] { order.push_back(3); });
  answer(*c);
  answer(*a);
  answer(*b);
  step();
  EXPECT_EQ(order, (std::vector{3, 1, 2}));
}

// ---- within the time-out

TEST_F(calls_test, a_call_without_an_answer_is_unknown_at_its_deadline) {
  const auto c = make();
  EXPECT_EQ(all.due(), now + timeout);
  pass(timeout - 1ms);
  EXPECT_EQ(c->times, 0);
  pass(1ms);
  ASSERT_EQ(c->times, 1);
  ASSERT_NE(c->wrong(), nullptr);
  EXPECT_EQ(c->wrong()->kind, why::unknown);
  EXPECT_EQ(c->wrong()->code, errc::outcome_unknown);
  EXPECT_EQ(all.due(), time_point::max());
}

TEST_F(calls_test, an_answer_after_the_deadline_comes_too_late) {
  const auto c = make();
  pass(timeout);
  step([&] { answer(*c); });
  EXPECT_EQ(c->times, 1);
  EXPECT_NE(c->wrong(), nullptr);
}

TEST_F(calls_test, each_has_its_own_deadline_and_the_first_is_due_first) {
  const auto a = make();
  now += 300ms;
  const auto b = make();
  now += 300ms;
  const auto c = make();
  step([&] { answer(*b); });
  EXPECT_EQ(all.due(), a->is->deadline);
  pass(timeout - 600ms);
  EXPECT_EQ(a->times, 1);
  EXPECT_EQ(all.due(), c->is->deadline) << "one that was answered is not waited for";
  pass(600ms);
  EXPECT_EQ(c->times, 1);
}

TEST_F(calls_test, many_that_are_overdue_are_all_given_up_though_their_replies_call_again) {
  for (int n = 0; n < 100; ++n) make([&] { make(); });
  const auto first = callers;
  pass(timeout);
  for (const auto& c : first) EXPECT_EQ(c->times, 1);
  EXPECT_EQ(all.due(), now + timeout) << "the new ones have time";
}

TEST_F(calls_test, nothing_is_executed_after_its_not_after) {
  const auto c = make();
  c->is->not_after = now + 1s;
  step([&] { EXPECT_FALSE(all.too_late(*c->is, now)); });
  EXPECT_EQ(c->times, 0);
  now += 1s;
  step([&] { EXPECT_TRUE(all.too_late(*c->is, now)); });
  ASSERT_NE(c->wrong(), nullptr);
  EXPECT_EQ(c->wrong()->kind, why::not_sent) << "certainly not executed";
}

TEST_F(calls_test, most_calls_may_be_executed_at_any_time) {
  const auto c = make();
  EXPECT_FALSE(all.too_late(*c->is, time_point::max() - 1ns));
}

// ---- closed

TEST_F(calls_test, whoever_calls_after_the_end_is_answered_too_and_not_inline) {
  all.close();
  const auto c = make();
  EXPECT_TRUE(c->is->over()) << "so the engine does nothing for it";
  EXPECT_EQ(c->times, 0);
  step();
  ASSERT_EQ(c->times, 1);
  EXPECT_EQ(c->wrong()->kind, why::not_sent);
  EXPECT_EQ(c->wrong()->code, errc::closed);
}

TEST_F(calls_test, what_is_under_way_when_it_is_closed_can_still_be_answered) {
  const auto c = make();
  all.close();
  EXPECT_FALSE(all.drained());
  step([&] { answer(*c); });
  EXPECT_EQ(std::get<fate>(c->said), fate::holding);
  EXPECT_TRUE(all.drained());
}

// ---- work that nobody has called for

TEST_F(calls_test, work_of_the_engines_own_is_begun_after_the_end_too_and_waited_for) {
  all.close();
  int ended = 0;
  const auto own = all.begin_own<fate>(now, [&](engine::outcome<fate>&&) { ++ended; });
  EXPECT_FALSE(own->over());
  EXPECT_TRUE(all.gives_back());
  EXPECT_FALSE(all.drained());
  step([&] { all.give_up(false); });
  EXPECT_EQ(ended, 0);
  step([&] { all.answer<fate>(*own, fate::gone); });
  EXPECT_EQ(ended, 1);
  EXPECT_TRUE(all.drained());
}

TEST_F(calls_test, work_of_the_engines_own_comes_to_an_end_in_time_and_when_all_is_given_up) {
  std::vector<why> ended;
  const auto begin = [&] {
    return all.begin_own<fate>(now,
                               [&](engine::outcome<fate>&& o) { ended.push_back(std::get<failure>(o.result).kind); });
  };
  begin();
  pass(timeout);
  EXPECT_EQ(ended, std::vector{why::unknown});
  begin();
  all.close();
  step([&] { all.give_up(true); });
  EXPECT_EQ(ended, (std::vector{why::unknown, why::unknown}));
}

TEST_F(calls_test, work_of_the_engines_own_keeps_nobody_from_being_answered_in_the_same_step) {
  const auto c = make();
  step([&] {
    all.begin_own<fate>(now, [](auto&&) {});
    answer(*c);
    EXPECT_EQ(c->times, 1) << "it is no call of the runtime, which would have to return first";
  });
}

TEST_F(calls_test, what_gives_nothing_back_is_given_up_first) {
  const auto asks = make(), gives = make();
  gives->is->gives_back = true;
  all.close();
  EXPECT_TRUE(all.gives_back());
  step([&] { all.give_up(false); });
  EXPECT_EQ(asks->times, 1);
  EXPECT_EQ(asks->wrong()->kind, why::unknown) << "perhaps it was executed";
  EXPECT_EQ(asks->wrong()->code, errc::closed);
  EXPECT_EQ(gives->times, 0);
  step([&] { all.give_up(true); });
  EXPECT_EQ(gives->times, 1);
  EXPECT_FALSE(all.gives_back());
  EXPECT_TRUE(all.drained());
}

TEST_F(calls_test, what_a_reply_calls_while_all_is_given_up_is_answered_too) {
  caller_ptr last;
  make([&] { last = make(); });
  make();
  all.close();
  step([&] { all.give_up(true); });
  ASSERT_NE(last, nullptr);
  step();
  for (const auto& c : callers) EXPECT_EQ(c->times, 1);
  EXPECT_TRUE(all.drained());
}

TEST_F(calls_test, it_is_drained_when_the_last_reply_was_delivered_and_not_before) {
  const auto c = make();
  answer(*c);
  EXPECT_FALSE(all.drained());
  step();
  EXPECT_TRUE(all.drained());
}

// ---- dropped

TEST_F(calls_test, an_engine_that_goes_answers_nobody_and_lets_go_of_every_reply) {
  auto mortal = std::make_unique<calls>(timeout);
  auto kept = std::make_shared<int>();
  int told = 0;
  const auto begin = [&] { return mortal->begin<fate>(now, [&told, kept](engine::outcome<fate>&&) { ++told; }); };
  const auto under_way = begin(), ready = begin(), queued = begin();
  mortal->answer<fate>(*ready, fate::gone);
  mortal->in_turn(under_way, "x", [] {});
  mortal->in_turn(queued, "x", [kept] {});
  for (const auto& each : {under_way, queued}) each->when_over = [&told, kept] { ++told; };
  mortal.reset();
  EXPECT_EQ(told, 0);
  EXPECT_EQ(kept.use_count(), 1) << "though somebody still has the calls";
  EXPECT_TRUE(under_way->over() && queued->over());
}

TEST_F(calls_test, an_answer_for_a_call_that_was_dropped_is_nobodys) {
  const auto c = make();
  all.drop_all();
  step([&] { answer(*c); });
  EXPECT_EQ(c->times, 0);
  EXPECT_TRUE(all.drained());
}

// ---- no memory

TEST_F(calls_test, a_reply_that_finds_no_memory_takes_no_other_with_it) {
  const auto a = make(), bad = make([] { throw std::bad_alloc{}; }), b = make();
  answer(*a);
  answer(*bad);
  answer(*b);
  EXPECT_THROW(step(), std::bad_alloc);
  EXPECT_EQ(bad->times, 1);
  EXPECT_EQ(all.due(), time_point::min());
  step();
  EXPECT_EQ(b->times, 1);
  EXPECT_EQ(bad->times, 1) << "it had its reply";
}

TEST_F(calls_test, a_step_that_finds_no_memory_leaves_its_call_to_the_time_out) {
  const auto c = make();
  EXPECT_THROW(step([] { throw std::bad_alloc{}; }), std::bad_alloc);
  answer(*make());
  EXPECT_EQ(callers.back()->times, 0) << "that was no step";
  pass(timeout);
  EXPECT_EQ(c->wrong()->kind, why::unknown);
  EXPECT_EQ(callers.back()->times, 1);
}

}  // namespace
}  // namespace tyer::kit
