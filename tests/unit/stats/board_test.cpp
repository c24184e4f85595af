#include "stats/board.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

namespace tyer::stats {
namespace {

using namespace std::chrono_literals;

TEST(histogram, a_bound_belongs_to_the_bucket_below_it) {
  histogram h;
  for (const auto b : duration_histogram::bounds) h.add(b);
  auto read = h.read();
  for (std::size_t i = 0; i < duration_histogram::bounds.size(); ++i) EXPECT_EQ(read.buckets[i], 1u) << i;
  EXPECT_EQ(read.buckets.back(), 0u);
  for (const auto b : duration_histogram::bounds) h.add(b + 1ns);
  read = h.read();
  EXPECT_EQ(read.buckets.front(), 1u);
  EXPECT_EQ(read.buckets[1], 2u);
  EXPECT_EQ(read.buckets.back(), 1u);
  EXPECT_EQ(read.count(), 2 * duration_histogram::bounds.size());
}

TEST(histogram, bounds_grow) { EXPECT_TRUE(std::ranges::is_sorted(duration_histogram::bounds)); }

TEST(histogram, what_took_less_than_nothing_took_nothing) {
  histogram h;
  h.add(-5s);
  h.add(3s);
  EXPECT_EQ(h.read().count(), 2u);
  EXPECT_EQ(h.read().buckets.front(), 1u);
  EXPECT_EQ(h.read().sum, 3s);
}

TEST(board, locks_without_a_group_are_first) {
  board b;
  EXPECT_EQ(&b.group_of(""), &b.ungrouped());
  b.group_of("orders");
  const auto s = b.read();
  ASSERT_EQ(s.groups.size(), 2u);
  EXPECT_EQ(s.groups[0].name, "");
  EXPECT_EQ(s.groups[1].name, "orders");
}

TEST(board, a_group_is_made_once) {
  board b;
  auto& g = b.group_of("orders");
  for (int i = 0; i < 10; ++i) b.group_of("group " + std::to_string(i));
  EXPECT_EQ(&b.group_of("orders"), &g);
}

TEST(board, the_group_after_the_last_is_other) {
  board b;
  for (std::size_t i = 0; i < board::groups_max; ++i) {
    EXPECT_EQ(b.group_of("group " + std::to_string(i)).name, "group " + std::to_string(i));
  }
  EXPECT_EQ(b.group_of("one more").name, "other");
  EXPECT_EQ(&b.group_of("and another"), &b.group_of("one more"));
  EXPECT_EQ(b.group_of("group 7").name, "group 7") << "those that were there stay";
  EXPECT_EQ(b.read().groups.size(), board::groups_max + 2);
}

// Else there would be two of that name.
TEST(board, a_group_that_is_called_other_is_the_one_of_all_others) {
  board b;
  auto& mine = b.group_of("other");
  for (std::size_t i = 0; i < board::groups_max; ++i) b.group_of(std::to_string(i));
  EXPECT_EQ(&b.group_of("one more"), &mine);
  EXPECT_EQ(b.read().groups.size(), board::groups_max + 2) << "and takes the place of none";
}

TEST(board, the_least_is_none_before_the_first) {
  board b;
  EXPECT_EQ(b.read().remaining_min, std::nullopt);
  b.renewed(3s);
  b.renewed(2s);
  b.renewed(5s);
  EXPECT_EQ(b.read().remaining_min, 2s);
}

// One writes, others read and make groups: ThreadSanitizer looks on.
TEST(board, is_read_while_it_is_written) {
  board b;
  std::atomic<bool> over{false};
  constexpr std::uint64_t turns = 20'000;
  std::jthread reader{[&] {
    std::uint64_t last = 0;
    while (!over) {
      const auto s = b.read();
      const auto& h = s.groups[0].acquire_duration[acquire_end::granted];
      EXPECT_GE(h.count(), last) << "a counter never runs backwards";
      EXPECT_LE(h.count(), turns);
      EXPECT_LE(s.groups[0].waiters, 1u);
      last = h.count();
    }
  }};
  std::jthread maker{[&] {
    for (int i = 0; !over; ++i) b.group_of("group " + std::to_string(i % 100));
  }};
  auto& g = b.group_of("");
  for (std::uint64_t i = 0; i < turns; ++i) {
    b.begins_to_wait(g);
    b.waits_no_more(g);
    b.acquire_ended(g, acquire_end::granted, 1ms);
    b.hold_began(g);
    b.renewed(1s);
    b.came_back(reconnection::other_server);
    b.hold_ended(g, 2ms, loss_reason::gone);
    b.answered(engine_request::keep, request_end::answered, 1us);
  }
  over = true;
  reader.join();
  maker.join();
  const auto s = b.read();
  EXPECT_EQ(s.groups[0].acquire_duration[acquire_end::granted].count(), turns);
  EXPECT_EQ(s.groups[0].hold_duration.sum, turns * 2ms);
  EXPECT_EQ(s.groups[0].losses[loss_reason::gone], turns);
  EXPECT_EQ(s.groups[0].holds, 0u);
  EXPECT_EQ(s.reconnects[reconnection::other_server], turns);
}

}  // namespace
}  // namespace tyer::stats
