#include "engines/sql/seats.hpp"

#include <gtest/gtest.h>

namespace tyer::sql {

using namespace std::chrono_literals;

namespace {

seat example() {
  seat s;
  s.who = kit::id::from("0123456789abcdef");
  s.how = kit::mode::permit;
  s.is = seat::state::handed_over;
  s.take = 2;
  s.capacity = 5;
  s.slots = {1, 3};
  s.part = 77;
  s.seen = 5;
  s.expires = kit::store_time{1234567us};
  s.ttl = 30s;
  s.waiter_ttl = 10s;
  s.lock_delay = 3s;
  s.owner = std::string{"a\0b", 3};
  s.asked = "please";
  s.times_asked = 2;
  s.lease = -5;
  return s;
}

}  // namespace

TEST(sql_seats, a_keep_finds_a_hold_by_its_head_and_changes_the_end_of_that) {
  auto s = example();
  auto bytes = write_seats({{}, s});
  const auto was = seat_head::of(s).bytes();
  ASSERT_EQ(was.size(), seat_head::size);
  s.expires += 1s;
  s.lease = 9;
  const auto is = seat_head::of(s).bytes();
  EXPECT_EQ(is.substr(0, seat_head::expires_at), was.substr(0, seat_head::expires_at));
  const auto changed = is.substr(seat_head::expires_at);
  bytes.replace(bytes.find(was) + seat_head::expires_at, changed.size(), changed);
  EXPECT_EQ(bytes, write_seats({{}, s}));
}

TEST(sql_seats, come_back_as_they_were) {
  const auto all = read_seats(write_seats({example(), {}}));
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  const seat &is = all->front(), was = example();
  EXPECT_EQ(is.who, was.who);
  EXPECT_EQ(is.how, was.how);
  EXPECT_EQ(is.is, was.is);
  EXPECT_EQ(is.take, was.take);
  EXPECT_EQ(is.capacity, was.capacity);
  EXPECT_EQ(is.slots, was.slots);
  EXPECT_EQ(is.part, was.part);
  EXPECT_EQ(is.seen, was.seen);
  EXPECT_EQ(is.expires, was.expires);
  EXPECT_EQ(is.ttl, was.ttl);
  EXPECT_EQ(is.waiter_ttl, was.waiter_ttl);
  EXPECT_EQ(is.lock_delay, was.lock_delay);
  EXPECT_EQ(is.owner, was.owner);
  EXPECT_EQ(is.asked, was.asked);
  EXPECT_EQ(is.times_asked, was.times_asked);
  EXPECT_EQ(is.lease, was.lease);
}

TEST(sql_seats, what_is_cut_off_or_of_another_layout_is_not_misread) {
  const auto whole = write_seats({example()});
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(read_seats(std::string_view{whole}.substr(0, n))) << n;
  auto later = whole;
  later[0] = 2;
  EXPECT_FALSE(read_seats(later));
  EXPECT_FALSE(read_seats(whole + "x"));
  const auto place = write_place(example());
  for (std::size_t n = 0; n < place.size(); ++n) EXPECT_FALSE(read_place(std::string_view{place}.substr(0, n))) << n;
  EXPECT_TRUE(read_place(place));
}

}  // namespace tyer::sql
