#include "runtime/presence.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace tyer::runtime {
namespace {

using namespace std::chrono_literals;
using news = presence::news;

class presence_test : public ::testing::Test {
 protected:
  presence::change up(const char* server) { return engine.up(server, now += 1s); }
  void down() { engine.down(now += 1s); }

  presence engine;
  lease::time_point now{1000s};
};

TEST_F(presence_test, the_first_server_was_not_away) {
  const auto c = up("a");
  EXPECT_EQ(c.what, news::there);
  EXPECT_EQ(c.away, 0s);
}

TEST_F(presence_test, an_outage_lasts_from_the_first_word_of_it) {
  up("a");
  down();
  down();
  const auto c = up("a");
  EXPECT_EQ(c.what, news::there);
  EXPECT_EQ(c.away, 2s);
}

TEST_F(presence_test, before_the_first_connection_is_one_too) {
  down();
  const auto c = up("a");
  EXPECT_EQ(c.what, news::there);
  EXPECT_EQ(c.away, 1s);
}

TEST_F(presence_test, one_server_after_another_also_back_again) {
  up("a");
  down();
  EXPECT_EQ(up("b").what, news::another);
  down();
  EXPECT_EQ(up("a").what, news::another);
  down();
  EXPECT_EQ(up("a").what, news::there);
}

// It was: every master of a cluster that connected again was another server than the last one that had.
TEST_F(presence_test, a_master_of_a_cluster_that_came_back_was_another_server) {
  up("a,b,c");
  down();
  down();
  const auto first = up("-,b,c");
  EXPECT_EQ(first.what, news::there);
  EXPECT_EQ(first.away, 2s);
  EXPECT_EQ(up("a,b,c").what, news::none);
  down();
  EXPECT_EQ(up("a,d,c").what, news::another);
  down();
  EXPECT_EQ(up("a,d,c").what, news::there);
}

// It was: "connected, away for 0.0 s", though nothing had been away.
TEST_F(presence_test, one_of_several_that_comes_later_was_a_connection_of_its_own) {
  up("a,b,-");
  EXPECT_EQ(up("a,b,c").what, news::none);
  EXPECT_EQ(up("a,b,d").what, news::another) << "it has come back without its data, and the others were there";
}

// It was: places were compared, and every change of their number or order was another server.
TEST_F(presence_test, a_cluster_that_grew_or_shrank_or_moved_its_slots_was_another_server) {
  up("a,b,c");
  EXPECT_EQ(up("c,a,b").what, news::none) << "the slots were moved";
  EXPECT_EQ(up("c,a,b,d").what, news::none) << "one more";
  EXPECT_EQ(up("c,a,d").what, news::none) << "one has no slots any more";
  EXPECT_EQ(up("c,a,e").what, news::another) << "in place of d";
  down();
  const auto back = up("e,c,a,f");
  EXPECT_EQ(back.what, news::there);
  EXPECT_TRUE(back.back);
}

TEST_F(presence_test, one_that_is_away_is_not_missing_and_another_may_be_meanwhile) {
  up("a,b,c");
  EXPECT_EQ(up("-,b,c,d").what, news::none) << "a is away, and d has come";
  EXPECT_EQ(up("-,b,e,d").what, news::another) << "c has gone";
  EXPECT_EQ(up("-,b,e,d,g").what, news::none) << "and one has come";
  EXPECT_EQ(up("-,b,e,d").what, news::none) << "and left";
  EXPECT_EQ(up("a,b,e,d").what, news::none) << "a is back";
  EXPECT_EQ(up("-,b,e,d").what, news::none);
  EXPECT_EQ(up("f,b,e,d").what, news::another) << "it has not come back";
}

TEST_F(presence_test, says_who_was_there_before_and_is_back) {
  down();
  EXPECT_FALSE(up("a").back) << "the first time";
  EXPECT_FALSE(up("a").back) << "it was not away";
  down();
  EXPECT_TRUE(up("a").back);
  EXPECT_FALSE(up("b").back);
  down();
  EXPECT_TRUE(up("b").back);
}

}  // namespace
}  // namespace tyer::runtime
