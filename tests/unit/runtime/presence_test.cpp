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

TEST_F(presence_test, with_fewer_or_more_of_them_it_is_another) {
  up("a,b");
  EXPECT_EQ(up("a").what, news::another);
  EXPECT_EQ(up("a").what, news::none);
  EXPECT_EQ(up("a,b").what, news::another);
}

}  // namespace
}  // namespace tyer::runtime
