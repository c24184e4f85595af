// A session as a lease: how long it may be silent, what it holds, and what an answer of it proves.
#include "engines/sql/held_session.hpp"

#include <gtest/gtest.h>

namespace tyer::sql {
namespace {

using namespace std::chrono_literals;

struct sql_held_session : ::testing::Test {
  static id who(char c) { return id::from(std::string(16, c)); }
  void hold(char c, milliseconds ttl) {
    if (const auto length = s.must_be_told(ttl)) s.told(*length, now);
    s.add(who(c), {std::string(1, c), 1, ttl, now + ttl});
  }

  time_point now{100s};
  held_session s;
};

TEST_F(sql_held_session, never_ends_before_it_holds_something) {
  EXPECT_EQ(s.length(), 0ms);
  EXPECT_EQ(s.relax_due(), time_point::max());
  EXPECT_EQ(s.must_be_told(10s), 10s);
}

TEST_F(sql_held_session, is_as_long_as_the_longest_that_it_holds) {
  hold('a', 10s);
  EXPECT_EQ(s.must_be_told(10s), std::nullopt);
  EXPECT_EQ(s.must_be_told(30s), 30s);
  hold('b', 30s);
  EXPECT_EQ(s.length(), 30s);
}

// The holder of 30 s would have believed in it for longer than the server waits.
TEST_F(sql_held_session, is_not_shortened_under_a_hold) {
  hold('a', 30s);
  EXPECT_EQ(s.must_be_told(1s), std::nullopt);
  s.remove(who('a'));
  EXPECT_EQ(s.must_be_told(1s), 1s);
}

TEST_F(sql_held_session, is_not_shortened_while_one_is_being_taken) {
  s.told(30s, now);
  s.begins_to_take("a");
  EXPECT_EQ(s.must_be_told(1s), std::nullopt);
  s.settled("a");
  EXPECT_EQ(s.must_be_told(1s), 1s);
}

TEST_F(sql_held_session, what_was_answered_before_it_was_longer_does_not_prove_that_long) {
  hold('a', 1s);
  now += 500ms;
  s.answered(now);
  EXPECT_TRUE(s.lived_at(now));
  now += 100ms;
  s.told(30s, now);
  EXPECT_FALSE(s.lived_at(now - 200ms));
  s.answered(now);
  EXPECT_TRUE(s.lived_at(now));
  EXPECT_FALSE(s.lived_at(now + 1ms));
}

TEST_F(sql_held_session, a_length_that_was_perhaps_not_told_was_relied_on) {
  hold('a', 1s);
  s.told(30s, now);
  s.answered(now);
  EXPECT_TRUE(s.lasts(30s));
  s.doubt();
  EXPECT_FALSE(s.lasts(1s));
  EXPECT_FALSE(s.lived_at(now));
  EXPECT_EQ(s.must_be_told(1s), 30s);
  now += 1s;
  s.told(30s, now);
  EXPECT_TRUE(s.lasts(30s));
  EXPECT_FALSE(s.lived_at(now - 1s)) << "it lived, and would have ended sooner";
  s.answered(now);
  EXPECT_TRUE(s.lived_at(now));
}

TEST_F(sql_held_session, an_older_answer_takes_nothing_back) {
  s.answered(now);
  s.answered(now - 1s);
  EXPECT_TRUE(s.lived_at(now));
}

TEST_F(sql_held_session, a_hold_that_nobody_keeps_is_over) {
  hold('a', 1s);
  hold('b', 2s);
  EXPECT_EQ(s.next_end(), now + 1s);
  EXPECT_TRUE(s.over(now + 999ms).empty());
  EXPECT_EQ(s.over(now + 1s), std::vector{who('a')});
  s.keep(who('a'), 1s, now + 3s);
  EXPECT_EQ(s.next_end(), now + 2s);
}

TEST_F(sql_held_session, keeping_never_shortens) {
  hold('a', 10s);
  s.keep(who('a'), 1s, now + 1s);
  EXPECT_EQ(s.next_end(), now + 10s);
  EXPECT_EQ(s.find(who('a'))->ttl, 10s);
}

TEST_F(sql_held_session, a_hold_is_found_by_its_name_and_no_other) {
  hold('a', 10s);
  EXPECT_NE(s.find(who('a'), "a"), nullptr);
  EXPECT_EQ(s.find(who('a'), "b"), nullptr);
  EXPECT_TRUE(s.has("a"));
  s.remove(who('a'));
  EXPECT_FALSE(s.has("a"));
  EXPECT_FALSE(s.remove(who('a')));
}

TEST_F(sql_held_session, one_that_holds_nothing_any_more_need_not_end) {
  hold('a', 9s);
  s.said(now);
  EXPECT_EQ(s.relax_due(), time_point::max());
  s.remove(who('a'));
  EXPECT_EQ(s.relax_due(), now + 3s);
  s.told(0ms, now + 3s);
  EXPECT_EQ(s.relax_due(), time_point::max());
}

TEST_F(sql_held_session, a_new_one_holds_nothing_and_tells_what_is_gone) {
  hold('a', 9s);
  EXPECT_EQ(s.begin(), std::vector{who('a')});
  EXPECT_EQ(s.size(), 0u);
  EXPECT_EQ(s.length(), 0ms);
  EXPECT_EQ(s.next_end(), time_point::max());
}

}  // namespace
}  // namespace tyer::sql
