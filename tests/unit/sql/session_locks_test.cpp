// Locks of a session, taken and given back: what is said, in which order, and what is made of late and lost answers.
#include "unit/sql/scripted_sessions.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tyer::sql {
namespace {

using namespace std::chrono_literals;

TEST_F(sql_session_locks, the_server_is_told_when_to_end_a_silent_session_before_anything_is_taken) {
  acquire(ids.next());
  EXPECT_EQ(said(), (std::vector<std::string>{"silence", "take"}));
  EXPECT_EQ(std::get<std::int64_t>(w.sent.front().second.front().values.front()), ttl.count());
  acquire(ids.next(), 1s, "m");
  EXPECT_EQ(how_often("silence"), 1u) << "a shorter one would end what is promised for longer";
}

TEST_F(sql_session_locks, a_grant_counts_from_before_it_was_asked_for) {
  const auto before = clock.now();
  const auto t = acquire(ids.next());
  pass(1s);
  answer("take", {won(5)});
  ASSERT_TRUE(is_granted(*t));
  EXPECT_EQ(t->last.sent, before);
  EXPECT_EQ(std::get<seam::granted>(t->value()).part, 5u);
  EXPECT_EQ(std::get<seam::granted>(t->value()).ttl, ttl);
}

// When a name was granted, and when the server was started, it says by a clock that may have been moved since.
TEST_F(sql_session_locks, a_clock_that_was_set_back_gave_a_lock_that_its_holder_believed_in_after_a_restart) {
  const auto known = [&] {
    const auto t = acquire(ids.next());
    const auto values = w.sent.back().second.back().values;
    answer("take", {not_won()});
    EXPECT_TRUE(is_busy(*t));
    return std::pair{std::get<std::string>(values.at(0)), milliseconds{std::get<std::int64_t>(values.at(1))}};
  };
  pass(3s);
  EXPECT_EQ(known(), (std::pair{std::string{"first"}, milliseconds{3s}}));
  come_back(8, "first");
  EXPECT_EQ(known(), (std::pair{std::string{"first"}, milliseconds{3500ms}})) << "it is the same server as before";
  come_back(9, "second");
  EXPECT_EQ(known(), (std::pair{std::string{"second"}, 0ms})) << "its holder may have been told a moment ago";
  pass(1s);
  EXPECT_EQ(known().second, 1s);
}

TEST_F(sql_session_locks, who_is_refused_asks_again_less_and_less_often) {
  const auto who = ids.next();
  auto t = acquire(who);
  answer("take", {not_won()});
  ASSERT_TRUE(is_busy(*t));
  EXPECT_EQ(std::get<seam::busy>(t->value()).hint, 10ms);
  pass(800ms);
  t = acquire(who);
  answer("take", {not_won()});
  EXPECT_EQ(std::get<seam::busy>(t->value()).hint, 100ms);
  pass(1h);
  t = acquire(who);
  answer("take", {not_won()});
  EXPECT_EQ(std::get<seam::busy>(t->value()).hint, 250ms);
}

// A session can have one lock twice.
TEST_F(sql_session_locks, a_second_id_of_the_same_client_would_have_had_it_too) {
  hold();
  const auto t = acquire(ids.next());
  EXPECT_TRUE(is_busy(*t));
  EXPECT_EQ(how_often("take"), 0u);
}

TEST_F(sql_session_locks, a_name_without_a_row_gets_one) {
  const auto t = acquire(ids.next());
  answer("take", {without_token()});
  answer("make", {won(9)});
  ASSERT_TRUE(is_granted(*t));
  EXPECT_EQ(std::get<seam::granted>(t->value()).part, 9u);
}

TEST_F(sql_session_locks, a_lock_whose_row_says_no_is_given_back) {
  const auto t = acquire(ids.next());
  answer("take", {without_token()});
  answer("make", {without_token()});
  EXPECT_EQ(said(), (std::vector<std::string>{"give_back", "rows?"}));
  answer("give_back", {one_number(1)});
  EXPECT_EQ(t->times, 0);
  answer("rows?", {one_number(0)});
  EXPECT_TRUE(is_busy(*t)) << "it may be free in a moment";
}

TEST_F(sql_session_locks, whoever_wanted_a_name_that_is_locked_by_rows_waited_without_a_word) {
  const auto t = acquire(ids.next());
  answer("take", {without_token()});
  answer("make", {without_token()});
  answer("give_back", {one_number(1)});
  answer("rows?", {one_number(1)});
  ASSERT_TRUE(t->failed());
  EXPECT_EQ(std::get<failure>(t->last.result).kind, why::refused);
}

// It was noted as one that waits, and nobody ever says that it does not: what never had a place is not released.
TEST_F(sql_session_locks, one_that_was_refused_was_remembered_for_ever) {
  const auto who = ids.next();
  acquire(who);
  answer("take", {without_token()});
  answer("make", {without_token()});
  answer("give_back", {one_number(1)});
  answer("rows?", {one_number(1)});
  pass(10s);
  const auto t = acquire(who);
  answer("take", {not_won()});
  ASSERT_TRUE(is_busy(*t));
  EXPECT_EQ(std::get<seam::busy>(t->value()).hint, 10ms) << "it was known, and since when";
}

TEST_F(sql_session_locks, an_error_behind_a_lock_that_was_won_left_it_locked) {
  const auto t = acquire(ids.next());
  answer("take", {error()});
  EXPECT_TRUE(t->failed());
  EXPECT_EQ(said(), std::vector<std::string>{"give_back_if_had"});
  const auto next = acquire(ids.next());
  EXPECT_EQ(how_often("take"), 0u) << "first it is given back";
  answer("give_back_if_had", {one_number(1)});
  EXPECT_EQ(how_often("take"), 1u);
}

TEST_F(sql_session_locks, a_lock_whose_unlock_met_an_error_stayed_locked_by_a_session_that_did_not_hold_it) {
  const auto who = hold();
  const auto r = release(who);
  answer("give_back", {error()});
  EXPECT_EQ(said(), std::vector<std::string>{"give_back_if_had"}) << "a session can have it twice: nobody takes it now";
  EXPECT_EQ(r->times, 0);
  answer("give_back_if_had", {error()});
  answer("give_back_if_had", {one_number(1)});
  ASSERT_EQ(r->times, 1);
  EXPECT_EQ(r->value(), fate::holding);
  acquire(ids.next());
  EXPECT_EQ(how_often("take"), 1u);
}

TEST_F(sql_session_locks, nobody_of_this_client_takes_a_lock_before_it_is_known_to_be_given_back) {
  const auto who = hold();
  release(who);
  pass(request_timeout);
  acquire(ids.next());
  EXPECT_EQ(how_often("take"), 0u);
  answer("give_back", {error()});
  EXPECT_EQ(how_often("take"), 0u);
  answer("give_back_if_had", {one_number(0)});
  EXPECT_EQ(how_often("take"), 1u);
}

TEST_F(sql_session_locks, a_lock_that_the_server_does_not_take_back_goes_with_its_session) {
  const auto one = hold(), two = ids.next();
  acquire(two, ttl, "m");
  answer("take", {won(2)});
  const auto r = release(one);
  answer("give_back", {error()});
  for (int i = 0; i < 3; ++i) answer("give_back_if_had", {error()});
  EXPECT_TRUE(r->failed());
  EXPECT_EQ(events.all_gone, std::vector{two});
  EXPECT_NE(events.words.find("given back"), std::string::npos) << events.words;
}

TEST_F(sql_session_locks, what_waited_for_an_unlock_that_its_connection_took_along_asks_the_next_session) {
  const auto who = hold();
  release(who);
  pass(request_timeout);
  acquire(ids.next());
  come_back(8);
  EXPECT_EQ(said(), std::vector<std::string>{"who"}) << "what is known of the last one says nothing of this one";
  answer("who", {one_number(8)});
  EXPECT_EQ(said(), (std::vector<std::string>{"silence", "take"}));
}

TEST_F(sql_session_locks, a_session_that_was_not_told_when_to_end_was_taken_for_one_that_was) {
  acquire(ids.next());
  const auto beside = acquire(ids.next(), ttl, "m");
  EXPECT_EQ(said(), (std::vector<std::string>{"silence", "take", "take"}));
  answer("take", {error(), won(1)});
  answer("take", {won(2)});
  EXPECT_TRUE(beside->failed()) << "the server would end it at another time than its client believes";
  answer("give_back_if_had", {one_number(1)});
  answer("give_back", {one_number(1)});
  acquire(ids.next());
  EXPECT_EQ(said(), (std::vector<std::string>{"silence", "take"}));
}

TEST_F(sql_session_locks, a_lock_that_was_won_too_late_is_given_back) {
  const auto t = acquire(ids.next());
  pass(request_timeout);
  EXPECT_TRUE(t->failed());
  const auto next = acquire(ids.next());
  EXPECT_EQ(how_often("take"), 1u) << "one at a time";
  answer("take", {won(1)});
  EXPECT_EQ(said(), std::vector<std::string>{"give_back"});
  answer("give_back", {one_number(1)});
  EXPECT_EQ(said(), std::vector<std::string>{"take"});
  answer("take", {won(2)});
  EXPECT_TRUE(is_granted(*next));
}

TEST_F(sql_session_locks, a_release_waits_for_what_it_undoes) {
  const auto who = ids.next();
  acquire(who);
  pass(request_timeout);
  const auto r = release(who);
  EXPECT_EQ(r->times, 0);
  answer("take", {won(1)});
  answer("give_back", {one_number(1)});
  ASSERT_EQ(r->times, 1);
  EXPECT_EQ(r->value(), fate::gone);
}

}  // namespace
}  // namespace tyer::sql
