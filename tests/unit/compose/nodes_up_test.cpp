#include "engines/compose/redlock/nodes_up.hpp"

#include <tyer/error.hpp>

#include <gtest/gtest.h>

namespace tyer::redlock {
namespace {

using namespace std::chrono_literals;
using news = nodes_up::news;

class nodes_up_test : public ::testing::Test {
 protected:
  news up(std::size_t i, const char* id = "run") { return it.on_up(i, {id + std::to_string(i), "redis 7.0.15"}, now); }
  news down(std::size_t i) {
    return it.on_down(i, {why::not_sent, make_error_code(errc::unavailable), "connection refused"}, now);
  }

  time_point now{1000s};
  nodes_up it{{"a:1", "b:2", "c:3", "d:4", "e:5"}, 50ms};
};

TEST_F(nodes_up_test, all_that_are_there_are_waited_for_but_not_for_long) {
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(up(i), news::none);
  EXPECT_EQ(it.due(), now + nodes_up::first_straggle);
  EXPECT_NE(it.away(0), nullptr) << "none is asked before the others have had their chance";
  EXPECT_EQ(it.on_time(now + 49ms), news::none);
  EXPECT_EQ(it.on_time(now + nodes_up::first_straggle), news::up);
  EXPECT_EQ(it.away(0), nullptr);
  EXPECT_EQ(it.due(), time_point::max());
}

TEST_F(nodes_up_test, is_up_when_every_node_has_said_what_it_is) {
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(up(i), news::none);
  EXPECT_EQ(down(3), news::none);
  EXPECT_EQ(down(4), news::up);
  EXPECT_EQ(it.facts().id, "run0,run1,run2,-,-");
}

TEST_F(nodes_up_test, a_node_that_comes_back_is_news) {
  for (std::size_t i = 0; i < 4; ++i) up(i);
  EXPECT_EQ(up(4), news::up);
  EXPECT_EQ(down(2), news::none);
  EXPECT_EQ(up(2, "another"), news::up);
  EXPECT_NE(it.facts().id.find("another2"), std::string::npos);
}

TEST_F(nodes_up_test, is_down_once_when_a_majority_is_away_and_says_which) {
  for (std::size_t i = 0; i < 5; ++i) up(i);
  EXPECT_EQ(down(0), news::none);
  EXPECT_EQ(down(1), news::none);
  EXPECT_EQ(down(4), news::down);
  for (const char* words : {"3 of 5", "a:1", "b:2", "e:5", "connection refused"}) {
    EXPECT_NE(it.absence().words.find(words), std::string::npos) << it.absence().words;
  }
  EXPECT_EQ(it.absence().words.find("c:3"), std::string::npos);
  EXPECT_EQ(down(2), news::none);
  EXPECT_EQ(up(0), news::none);
  EXPECT_EQ(up(1), news::up);
}

TEST_F(nodes_up_test, is_down_from_the_start_if_a_majority_cannot_be_reached) {
  EXPECT_EQ(down(0), news::none);
  EXPECT_EQ(down(1), news::none);
  EXPECT_EQ(down(2), news::down);
}

TEST_F(nodes_up_test, clocks_that_are_apart_are_named) {
  for (std::size_t i = 0; i < 5; ++i) {
    up(i);
    it.note_clock(i, 1'800'000'000s + i * 100ms, now + i * 100ms);  // told one after the other
  }
  EXPECT_FALSE(it.clocks_apart(24h));
  it.note_clock(3, 1'800'000'002s, now);
  ASSERT_TRUE(it.clocks_apart(24h));
  EXPECT_TRUE(it.clocks_apart(24h)->what.starts_with("the clock of d:4 is 2000 ms ahead"))
      << it.clocks_apart(24h)->what;
  EXPECT_EQ(it.clocks_apart(24h)->severity, 1);
  EXPECT_EQ(it.clocks_apart(2s)->severity, 2) << "tokens may run backwards";
  down(3);
  EXPECT_FALSE(it.clocks_apart(24h));
  it.note_clock(4, 0us, now);
  EXPECT_FALSE(it.clocks_apart(24h));
}

TEST_F(nodes_up_test, a_majority_that_refuses_us_is_a_refusal) {
  for (std::size_t i = 0; i < 3; ++i) it.on_down(i, {why::refused, make_error_code(errc::refused), "WRONGPASS"}, now);
  EXPECT_EQ(it.absence().kind, why::refused);
}

}  // namespace
}  // namespace tyer::redlock
