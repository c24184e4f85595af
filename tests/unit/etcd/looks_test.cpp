#include "engines/etcd/client/looks.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tyer::etcd {
namespace {

using namespace std::chrono_literals;

core::id number(std::size_t n) {
  const auto digits = std::to_string(n);
  return core::id::from(std::string(16 - digits.size(), '0') + digits);
}

constexpr looks::time_point start{1h};

TEST(etcd_looks, come_in_the_order_of_their_times_and_not_before) {
  looks l;
  EXPECT_EQ(l.next(), looks::time_point::max());
  EXPECT_FALSE(l.take_due(start));
  l.set(start + 2s, number(1));
  l.set(start + 1s, number(2));
  EXPECT_EQ(l.next(), start + 1s);
  EXPECT_FALSE(l.take_due(start));
  EXPECT_EQ(l.take_due(start + 1s), number(2));
  EXPECT_FALSE(l.take_due(start + 1s));
  EXPECT_EQ(l.take_due(start + 5s), number(1));
}

TEST(etcd_looks, of_one_are_one_at_a_time) {
  looks l;
  EXPECT_TRUE(l.begin(number(1)));
  EXPECT_FALSE(l.begin(number(1)));
  l.end(number(1));
  EXPECT_TRUE(l.begin(number(1)));
}

// The loop would else run round and round for those that may not look yet.
TEST(etcd_looks, that_may_not_begin_are_not_due) {
  looks l;
  for (std::size_t i = 0; i < looks::at_once; ++i) EXPECT_TRUE(l.begin(number(i)));
  l.set(start, number(1000));
  EXPECT_FALSE(l.may_begin());
  EXPECT_EQ(l.next(), looks::time_point::max());
  EXPECT_FALSE(l.take_due(start + 1s));
  l.end(number(3));
  EXPECT_EQ(l.next(), start);
  EXPECT_EQ(l.take_due(start), number(1000));
}

// An answer that never comes is no reason to look no more.
TEST(etcd_looks, begin_anew_with_a_new_connection) {
  looks l;
  for (std::size_t i = 0; i < looks::at_once; ++i) l.begin(number(i));
  l.end_all();
  EXPECT_TRUE(l.may_begin());
  EXPECT_TRUE(l.begin(number(0)));
}

}  // namespace
}  // namespace tyer::etcd
