// An engine whose every grant comes too late to be of use: with a ttl that is too short for the way there and back.
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

using namespace std::chrono_literals;

// Every request is granted, and everything else answered, 700 ms later: of a ttl of 1 s too little is left.
struct far_bench : bench {
  explicit far_bench(runtime::limits l = {}) : bench(l) { lock = make_lock("far", 1s); }

  static constexpr auto way = 700ms;

  // Until the caller has its answer, or for so long.
  void serve(const caller& c, lease::duration at_most) {
    const auto end = clock.now() + at_most;
    while (c->times == 0 && clock.now() < end) {
      const auto asked = engine.acquires.size(), released = engine.releases.size();
      pass(way);
      for (std::size_t i = 0; i < asked; ++i) {
        if (!engine.acquires[i].answered()) engine.acquires[i].grant(++part);
      }
      for (std::size_t i = 0; i < released; ++i) {
        if (!engine.releases[i].answered()) engine.releases[i].answer(fate::holding);
      }
    }
  }
  std::uint64_t part = 100;
};

TEST(coordinator_late, a_try_whose_every_grant_is_too_late_comes_back_and_says_why) {
  far_bench b;
  auto c = b.try_once();
  b.serve(c, 1min);
  ASSERT_EQ(c->times, 1);
  EXPECT_EQ(c->why.code, errc::unavailable);
  EXPECT_NE(c->why.words.find("the ttl is too short for this engine"), std::string::npos) << c->why.words;
  EXPECT_NE(c->why.words.find("700 ms"), std::string::npos) << c->why.words;
  EXPECT_NE(c->why.words.find("1000 ms"), std::string::npos) << c->why.words;
  EXPECT_LE(b.engine.acquires.size(), 4u);
}

TEST(coordinator_late, one_grant_that_is_too_late_is_only_asked_for_again) {
  far_bench b;
  auto c = b.try_once();
  b.pass(700ms);
  b.engine.acquires[0].grant(100);
  EXPECT_EQ(c->times, 0);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  b.pass(10ms);
  b.engine.acquires[1].grant(101);
  EXPECT_TRUE(c->hold);
}

TEST(coordinator_late, a_wait_whose_every_grant_is_too_late_ends_like_one_through_an_outage) {
  far_bench b{{.unavailable_after = 10s}};
  const auto began = b.clock.now();
  auto c = b.want();
  b.serve(c, 1h);
  ASSERT_EQ(c->times, 1);
  EXPECT_EQ(c->why.code, errc::unavailable);
  EXPECT_FALSE(c->why.words.empty());
  EXPECT_GE(b.clock.now() - began, 10s);
  EXPECT_LE(b.clock.now() - began, 12s);
}

// Went wrong: each of them had to see three grants that were too late, one caller after the other.
TEST(coordinator_late, the_kth_caller_is_told_with_the_first) {
  far_bench b{{.unavailable_after = 10s}};
  const auto began = b.clock.now();
  std::vector<bench::caller> all;
  for (int i = 0; i < 8; ++i) all.push_back(b.want());
  b.serve(all.back(), 1h);
  for (const auto& c : all) EXPECT_EQ(c->why.code, errc::unavailable);
  EXPECT_LE(b.clock.now() - began, 12s);
}

TEST(coordinator_late, a_limited_wait_whose_every_grant_is_too_late_says_so_at_its_limit) {
  far_bench b;
  const auto began = b.clock.now();
  auto c = b.want(b.lock, true, 5s);
  b.serve(c, 1h);
  ASSERT_EQ(c->times, 1);
  EXPECT_EQ(c->why.code, errc::unavailable) << "nobody else had it";
  EXPECT_LE(b.clock.now() - began, 6s);
}

TEST(coordinator_late, a_wait_for_others_is_not_blamed_on_the_engine) {
  far_bench b;
  auto c = b.want(b.lock, true, 5s);
  b.pass(700ms);
  b.engine.acquires[0].grant(100);  // too late, once
  b.engine.acquires[1].queue(1, 1s);
  b.pass(10s);
  ASSERT_EQ(c->times, 1);
  EXPECT_FALSE(c->why) << c->why.words;
}

}  // namespace
}  // namespace tyer::testing
