// Calls of one name: one after the other, in the order they were made, but for those that hurry.
#include "core/id.hpp"
#include "unit/kit/calls_fixture.hpp"

#include <algorithm>
#include <map>
#include <new>

namespace tyer::kit {
namespace {

struct turns_test : calls_test {
  std::vector<int> started;
  std::map<int, caller_ptr> by_number;
  core::random_ids ids;

  // A call for a name, whose engine notes that it has started, and does `work`.
  caller_ptr queue(std::string_view name, int number, std::function<void()> work = {}) {
    const auto c = make();
    put(c, name, number, std::move(work));
    return c;
  }
  // One that goes before others.
  caller_ptr hurry(std::string_view name, int number, const core::id& who) {
    const auto c = make();
    c->is->hurries = true;
    c->is->of = who;
    put(c, name, number, {});
    return c;
  }
  void put(const caller_ptr& c, std::string_view name, int number, std::function<void()> work) {
    by_number[number] = c;
    all.in_turn(c->is, name, [this, number, work = std::move(work)] {
      started.push_back(number);
      if (work) work();
    });
  }
};

TEST_F(turns_test, the_first_starts_at_once_and_the_others_when_it_is_over) {
  const auto a = queue("x", 1), b = queue("x", 2), c = queue("x", 3);
  EXPECT_EQ(started, std::vector{1});
  step([&] { answer(*a); });
  EXPECT_EQ(started, (std::vector{1, 2}));
  step([&] { fail(*b); });
  EXPECT_EQ(started, (std::vector{1, 2, 3})) << "a failure is an end too";
  step([&] { answer(*c); });
  queue("x", 4);
  EXPECT_EQ(started.back(), 4) << "nobody is left in line";
}

TEST_F(turns_test, names_are_independent) {
  queue("x", 1);
  queue("y", 2);
  queue("x", 3);
  queue("z", 4);
  EXPECT_EQ(started, (std::vector{1, 2, 4}));
}

TEST_F(turns_test, a_call_counts_from_when_its_turn_came_but_its_deadline_from_when_it_was_made) {
  const auto a = queue("x", 1), b = queue("x", 2);
  const auto made = now;
  now += 700ms;
  step([&] { answer(*a); });
  EXPECT_EQ(b->is->sent, now);
  EXPECT_EQ(b->is->counts_from, now);
  EXPECT_EQ(b->is->deadline, made + timeout) << "time-outs do not add up";
  step([&] { answer(*b); });
  EXPECT_EQ(b->sent, now);
  EXPECT_EQ(a->sent, made);
}

TEST_F(turns_test, a_call_that_was_made_after_the_time_of_the_step_was_dated_before_it_was_made) {
  const auto a = queue("x", 1);
  const auto of_the_round = now;  // run() reads the clock once, for all its messages
  now += 5ms;
  const auto b = queue("x", 2);
  const auto made = std::exchange(now, of_the_round);
  step([&] { answer(*a); });
  EXPECT_EQ(b->is->sent, made);
  EXPECT_EQ(b->is->counts_from, made);
}

TEST_F(turns_test, one_in_the_middle_that_is_over_loses_its_turn_only) {
  const auto a = queue("x", 1), b = queue("x", 2);
  queue("x", 3);
  step([&] { fail(*b); });
  EXPECT_EQ(started, std::vector{1}) << "the first still goes on";
  step([&] { answer(*a); });
  EXPECT_EQ(started, (std::vector{1, 3}));
}

TEST_F(turns_test, a_silent_server_makes_all_of_a_name_fail_in_time) {
  for (int n = 0; n < 50; ++n) queue("x", n);
  pass(timeout);
  for (const auto& c : callers) {
    EXPECT_EQ(c->times, 1);
    EXPECT_NE(c->wrong(), nullptr);
  }
  EXPECT_TRUE(all.drained());
}

TEST_F(turns_test, one_that_is_answered_as_it_starts_gives_way_to_the_next) {
  const auto a = queue("x", 1);
  std::vector<caller_ptr> others;
  for (int n = 2; n < 100'000; ++n) {
    others.push_back(make());
    all.in_turn(others.back()->is, "x", [this, c = others.back().get(), n] {
      started.push_back(n);
      answer(*c);
    });
  }
  step([&] { answer(*a); });  // and no stack is deep enough for a recursion
  EXPECT_EQ(started.size(), 99'999u);
  EXPECT_EQ(started.back(), 99'999);
  EXPECT_EQ(others.back()->times, 1);
  EXPECT_TRUE(all.drained());
}

TEST_F(turns_test, the_first_may_be_answered_as_it_starts_but_not_inline) {
  const auto c = make();
  all.in_turn(c->is, "x", [&] { answer(*c); });
  EXPECT_TRUE(c->is->over());
  EXPECT_EQ(c->times, 0);
  step();
  EXPECT_EQ(c->times, 1);
  queue("x", 1);
  EXPECT_EQ(started, std::vector{1});
}

TEST_F(turns_test, the_engine_knows_that_a_call_is_over_before_the_next_one_starts) {
  const auto a = queue("x", 1);
  queue("x", 2);
  a->is->when_over = [&] { started.push_back(-1); };
  step([&] { answer(*a); });
  EXPECT_EQ(started, (std::vector{1, -1, 2}));
}

TEST_F(turns_test, a_start_may_end_another_of_the_same_name) {
  const auto a = queue("x", 1);
  caller_ptr third;
  const auto b = queue("x", 2, [&] { fail(*third); });
  third = queue("x", 3);
  queue("x", 4);
  step([&] { answer(*a); });
  EXPECT_EQ(started, (std::vector{1, 2}));
  step([&] { answer(*b); });
  EXPECT_EQ(started, (std::vector{1, 2, 4}));
}

TEST_F(turns_test, a_call_that_is_over_gets_no_turn) {
  all.close();
  queue("x", 1);
  EXPECT_TRUE(started.empty());
}

// --- those that hurry ---

TEST_F(turns_test, who_hurries_goes_before_those_that_do_not) {
  const auto a = queue("x", 1);
  for (int n = 2; n < 100; ++n) queue("x", n);
  const auto back = hurry("x", 100, ids.next());
  const auto claim = hurry("x", 101, ids.next());
  EXPECT_EQ(started, std::vector{1}) << "nobody is interrupted";
  step([&] { answer(*a); });
  step([&] { answer(*back); });
  step([&] { answer(*claim); });
  EXPECT_EQ(started, (std::vector{1, 100, 101, 2}));
}

TEST_F(turns_test, who_hurries_does_not_go_before_an_earlier_call_of_its_own_id) {
  const auto who = ids.next();
  const auto a = queue("x", 1), b = queue("x", 2);
  b->is->of = who;
  const auto c = queue("x", 3);
  const auto back = hurry("x", 4, who);
  hurry("x", 5, ids.next());
  step([&] { answer(*a); });
  EXPECT_EQ(started.back(), 5);
  step([&] { answer(*callers.back()); });
  EXPECT_EQ(started.back(), 2);
  step([&] { answer(*b); });
  EXPECT_EQ(started.back(), 4);
  step([&] { answer(*back); });
  EXPECT_EQ(started.back(), 3);
}

TEST_F(turns_test, those_that_hurry_do_not_keep_the_others_waiting_for_ever) {
  queue("x", 0);
  for (int n = 1; n <= 10; ++n) queue("x", n);
  for (int n = 100; n < 130; ++n) hurry("x", n, ids.next());
  for (int n = 0; n < 30; ++n) {
    step([&] { answer(*by_number.at(started.back())); });
  }
  EXPECT_EQ(std::vector(started.begin(), started.begin() + 7), (std::vector{0, 100, 101, 1, 102, 103, 2}));
  EXPECT_EQ(std::ranges::count_if(started, [](int n) { return n > 0 && n <= 10; }), 10);
}

// It was: whoever looked for the oldest that does not hurry passed over what the same id had asked for before.
TEST_F(turns_test, one_that_does_not_hurry_went_before_an_earlier_one_of_its_own_id) {
  const auto who = ids.next();
  queue("x", 0);
  hurry("x", 100, ids.next());
  hurry("x", 101, ids.next());
  hurry("x", 102, who);
  const auto behind = make();
  behind->is->of = who;
  put(behind, "x", 1, {});
  queue("x", 2);
  for (int n = 0; n < 6; ++n) {
    step([&] { answer(*by_number.at(started.back())); });
  }
  EXPECT_EQ(started, (std::vector{0, 100, 101, 2, 102, 1}));
}

// Nothing of it was sent, and yet it was told that nobody knows what became of it.
TEST_F(turns_test, one_that_had_no_turn_in_time_was_said_to_have_been_sent_perhaps) {
  const auto first = queue("x", 1), second = queue("x", 2);
  pass(timeout);
  EXPECT_EQ(first->wrong()->kind, why::unknown);
  EXPECT_EQ(second->wrong()->kind, why::not_sent);
}

TEST_F(turns_test, closing_does_not_start_what_it_gives_up) {
  for (int n = 0; n < 10; ++n) queue("x", n);
  all.close();
  step([&] { all.give_up(true); });
  EXPECT_EQ(started, std::vector{0});
  EXPECT_TRUE(all.drained());
}

// It was the order in which they were made, which is not that of the line where one hurries: as that one was given up, the next
// began, and asked a server for what nobody waits for.
TEST_F(turns_test, closing_started_what_had_been_overtaken_by_one_that_hurries) {
  const auto first = queue("x", 1);
  queue("x", 2);
  queue("x", 3);
  hurry("x", 4, ids.next());
  step([&] { answer(*first); });
  ASSERT_EQ(started, (std::vector{1, 4}));
  all.close();
  step([&] { all.give_up(true); });
  EXPECT_EQ(started, (std::vector{1, 4}));
  EXPECT_TRUE(all.drained());
}

TEST_F(turns_test, what_gives_something_back_has_its_turn_when_those_before_it_were_given_up) {
  queue("x", 1);
  queue("x", 2);
  const auto back = queue("x", 3);
  back->is->gives_back = true;
  all.close();
  step([&] { all.give_up(false); });
  EXPECT_EQ(started, (std::vector{1, 3}));
  step([&] { answer(*back); });
  EXPECT_EQ(std::get<fate>(back->said), fate::holding);
}

// What is to be done in its turn owns the call, in engines that answer it then.
TEST_F(turns_test, one_that_was_given_up_in_its_line_kept_itself_for_ever) {
  const auto first = make(), second = make();
  all.in_turn(first->is, "x", [] {});
  all.in_turn(second->is, "x", [c = second->is] {});
  const std::weak_ptr<call> known = second->is;
  second->is.reset();
  step([&] { all.give_up(true); });
  EXPECT_EQ(second->times, 1);
  EXPECT_TRUE(known.expired());
}

TEST_F(turns_test, a_start_that_finds_no_memory_is_unknown_at_its_deadline_and_then_the_next_goes_on) {
  const auto a = queue("x", 1);
  const auto bad = queue("x", 2, [] { throw std::bad_alloc{}; });
  now += 100ms;
  const auto c = queue("x", 3);
  step([&] { answer(*a); });
  EXPECT_EQ(started, (std::vector{1, 2}));
  pass(timeout - 100ms);
  EXPECT_EQ(bad->wrong()->kind, why::unknown);
  EXPECT_EQ(started, (std::vector{1, 2, 3}));
  EXPECT_EQ(c->times, 0);
}

TEST_F(turns_test, a_first_one_that_finds_no_memory_tells_whoever_calls) {
  const auto c = make();
  EXPECT_THROW(all.in_turn(c->is, "x", [] { throw std::bad_alloc{}; }), std::bad_alloc);
  now += 100ms;
  queue("x", 2);
  EXPECT_TRUE(started.empty());
  pass(timeout - 100ms);
  EXPECT_EQ(c->times, 1);
  EXPECT_EQ(started, std::vector{2});
}

}  // namespace
}  // namespace tyer::kit
