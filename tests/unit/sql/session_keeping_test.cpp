// Locks of a session, kept, and the connection that they live by.
#include "unit/sql/scripted_sessions.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tyer::sql {
namespace {

using namespace std::chrono_literals;

TEST_F(sql_session_locks, a_hold_that_is_kept_for_longer_was_believed_although_its_session_was_not_told) {
  const auto who = hold();
  auto t = keep({who}, 2 * ttl);
  answer("who", {error(), answered{}, one_number(number)});
  EXPECT_TRUE(t->failed());
  t = keep({who}, 2 * ttl);
  EXPECT_EQ(how_often("silence"), 1u);
  answer("who", {answered{}, answered{}, one_number(number)});
  EXPECT_EQ(t->value().ttl, 2 * ttl);
}

TEST_F(sql_session_locks, all_are_kept_by_one_answer) {
  const auto one = hold();
  const auto two = ids.next();
  acquire(two, ttl, "m");
  answer("take", {won(1)});
  pass(2s);
  const auto first = keep({one, two}), second = keep({one});
  EXPECT_EQ(said(), std::vector<std::string>{"who"});
  answer("who", {one_number(number)});
  ASSERT_EQ(first->times, 1);
  EXPECT_EQ(first->value().fates, (std::vector{fate::holding, fate::gone})) << "the other has another name";
  EXPECT_EQ(first->value().ttl, ttl);
  ASSERT_EQ(second->times, 1);
}

TEST_F(sql_session_locks, what_was_answered_a_moment_ago_is_proof_enough) {
  const auto who = hold();
  const auto before = clock.now();
  pass(ttl / 6);
  const auto t = keep({who});
  ASSERT_EQ(t->times, 1);
  EXPECT_EQ(t->last.sent, before);
  EXPECT_TRUE(said().empty());
}

TEST_F(sql_session_locks, a_hold_counts_from_the_sending_of_what_was_answered) {
  const auto who = hold();
  pass(2s);
  const auto before = clock.now();
  const auto t = keep({who});
  pass(1s);
  answer("who", {one_number(number)});
  ASSERT_EQ(t->times, 1);
  EXPECT_EQ(t->last.sent, before);
}

TEST_F(sql_session_locks, what_is_kept_for_longer_is_written_down_first) {
  const auto who = hold();
  const auto t = keep({who}, 2 * ttl);
  EXPECT_EQ(said(), (std::vector<std::string>{"silence", "lengthen", "who"}));
  answer("who", {answered{}, answered{}, one_number(number)});
  ASSERT_EQ(t->times, 1);
  EXPECT_EQ(t->value().ttl, 2 * ttl);
}

TEST_F(sql_session_locks, a_hold_that_nobody_keeps_is_given_back) {
  const auto who = hold();
  pass(ttl);
  EXPECT_EQ(events.all_gone, std::vector{who});
  EXPECT_EQ(said(), std::vector<std::string>{"give_back"});
  const auto t = keep({who});
  ASSERT_EQ(t->times, 1);
  EXPECT_EQ(t->value().fates, std::vector{fate::gone});
}

TEST_F(sql_session_locks, with_the_connection_every_hold_is_gone) {
  const auto who = hold();
  pass(2s);
  const auto t = keep({who});
  cut_off();
  EXPECT_EQ(events.all_gone, std::vector{who});
  ASSERT_EQ(t->times, 1);
  EXPECT_EQ(t->value().fates, std::vector{fate::gone});
  const auto r = release(who);
  EXPECT_EQ(r->value(), fate::gone);
  EXPECT_TRUE(said().size() == 1) << "nothing is given back in a session that does not have it";
}

// Told to the next session, the length would have been that of whoever asked first.
TEST_F(sql_session_locks, what_is_asked_while_it_is_away_waits_for_the_next_session) {
  hold(60s);
  cut_off();
  w.sent.clear();
  const auto one = acquire(ids.next(), 10s, "a"), two = acquire(ids.next(), 1s, "b");
  EXPECT_TRUE(said().empty());
  pass(500ms);
  greet(8);
  EXPECT_EQ(said(), (std::vector<std::string>{"who", "who"}));
  answer("who", {one_number(8)});
  answer("who", {one_number(8)});
  EXPECT_EQ(said(), (std::vector<std::string>{"silence", "take", "take"}));
  EXPECT_EQ(std::get<std::int64_t>(w.sent.front().second.front().values.front()), 10'000);
}

TEST_F(sql_session_locks, another_session_behind_the_same_connection_is_left) {
  const auto who = hold();
  pass(2s);
  keep({who});
  answer("who", {one_number(number + 1)});
  EXPECT_EQ(events.all_gone, std::vector{who});
  EXPECT_NE(events.words.find("session of the server answers"), std::string::npos);
}

TEST_F(sql_session_locks, behind_a_pooler_nothing_is_granted) {
  it.reset();
  w = {};
  w.keeps_session = false;
  open(request_timeout, scripted_sessions);
  step([&] { w.to->on_open(); });
  EXPECT_EQ(said(), std::vector<std::string>{"who"}) << "nothing is set that another client would find";
  answer("who", {one_number(1)});
  EXPECT_EQ(events.ups, 1) << "only the first time";
  const auto t = acquire(ids.next());
  ASSERT_TRUE(t->failed());
  EXPECT_EQ(std::get<failure>(t->last.result).kind, why::refused);
  EXPECT_NE(std::get<failure>(t->last.result).words.find("pooler"), std::string::npos);
}

TEST_F(sql_session_locks, a_server_whose_locks_are_none_is_refused_in_its_words) {
  it.reset();
  w = {};
  open(request_timeout, scripted_sessions);
  greet(13);
  const auto t = acquire(ids.next());
  ASSERT_TRUE(t->failed());
  EXPECT_EQ(std::get<failure>(t->last.result).words, "not here");
}

TEST_F(sql_session_locks, a_session_that_holds_nothing_is_not_ended) {
  const auto who = hold();
  release(who);
  answer("give_back", {one_number(1)});
  EXPECT_TRUE(said().empty());
  pass(ttl / 3);
  ASSERT_EQ(said(), std::vector<std::string>{"silence"});
  EXPECT_EQ(std::get<std::int64_t>(w.sent.front().second.front().values.front()), 0);
  answer("silence", {answered{}});
  acquire(ids.next());
  EXPECT_EQ(said(), (std::vector<std::string>{"silence", "take"}));
}

// Whatever is said behind it waits for it, on the one connection, and holds were lost.
TEST_F(sql_session_locks, a_look_through_a_large_table_kept_the_renewals_behind_it_waiting) {
  hold(1h);
  pass(10min);
  EXPECT_EQ(said(), std::vector<std::string>{"sweep_turn"});
  answer("sweep_turn", {one_number(1)});
  EXPECT_EQ(said(), (std::vector<std::string>{"sweep_rest", "sweep_end", "sweep"}));
  answer("sweep_end", {rows_of({{bytes_cell("the thousandth")}}), answered{}});
  EXPECT_EQ(said(), (std::vector<std::string>{"sweep_rest", "sweep_end", "sweep"})) << "and so on";
  EXPECT_EQ(std::get<std::string>(w.sent.back().second.front().values.at(0)), "the thousandth");
  answer("sweep_end", {answered{}, answered{}});
  EXPECT_EQ(said(), std::vector<std::string>{"sweep_rest"});
}

TEST_F(sql_session_locks, of_all_clients_one_looks_through_the_table) {
  hold(1h);
  pass(10min);
  answer("sweep_turn", {answered{}});
  EXPECT_TRUE(said().empty());
}

TEST_F(sql_session_locks, the_same_id_again_is_shown_once_more) {
  const auto who = hold();
  pass(1s);
  const auto before = clock.now();
  const auto t = acquire(who);
  EXPECT_EQ(said(), std::vector<std::string>{"who"});
  answer("who", {one_number(number)});
  ASSERT_TRUE(is_granted(*t));
  EXPECT_EQ(t->last.sent, before);
  EXPECT_EQ(std::get<seam::granted>(t->value()).part, 1u);
  pass(ttl - 1ms);
  EXPECT_TRUE(events.all_gone.empty()) << "it counts from the last time";
}

}  // namespace
}  // namespace tyer::sql
