#include "engines/redis/deployment/cluster/detours.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using tyer::redis::detours;

constexpr std::string_view key = "tyer:{a}", other = "tyer:{b}";
const detours::time_point now{1h};

TEST(detours, a_name_that_is_nowhere_else_is_in_the_group_of_its_master) {
  detours d;
  EXPECT_EQ(d.group(key, 3), 3U);
  d.note(other, 3, 4, now);
  EXPECT_EQ(d.group(key, 3), 3U);
}

TEST(detours, a_name_on_a_detour_is_in_the_group_of_neither) {
  detours d;
  EXPECT_TRUE(d.note(key, 3, 4, now));
  EXPECT_NE(d.group(key, 3), 3U);
  EXPECT_NE(d.group(key, 3), 4U);
  EXPECT_TRUE(d.note(other, 3, 5, now));
  EXPECT_NE(d.group(key, 3), d.group(other, 3)) << "the one may hang while the other answers";
  EXPECT_TRUE(d.note(other, 3, 4, now));
  EXPECT_EQ(d.group(key, 3), d.group(other, 3));
}

TEST(detours, is_news_once) {
  detours d;
  EXPECT_TRUE(d.note(key, 3, 4, now));
  EXPECT_FALSE(d.note(key, 3, 4, now + 1s));
  EXPECT_TRUE(d.note(key, 3, 5, now + 2s)) << "elsewhere";
}

TEST(detours, is_over_when_the_slot_has_another_master) {
  detours d;
  d.note(key, 3, 4, now);
  EXPECT_EQ(d.group(key, 4), 4U);
}

TEST(detours, is_forgotten_when_nobody_says_it_again) {
  detours d;
  d.note(key, 3, 4, now);
  d.note(other, 3, 4, now);
  d.note(other, 3, 4, now + 5s);
  d.forget_old(now + 10s);
  EXPECT_EQ(d.size(), 1U);
  EXPECT_EQ(d.group(key, 3), 3U);
  EXPECT_NE(d.group(other, 3), 3U);
}

}  // namespace
