// Where a name's keys lie: no name is another, and none is another's beginning.
#include "engines/etcd/keys.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tyer::etcd {
namespace {

const core::id who = core::id::from("0123456789abcdef");

TEST(etcd_keys, what_is_written_is_read_back) {
  const keys k{"p:"};
  for (const auto& name : std::vector<std::string>{"a", "a/b", "%7B", "{x}", "}/", "floor", {"\0\xff", 2}}) {
    const auto parts = k.read(k.seat(name, who));
    ASSERT_TRUE(parts) << name;
    EXPECT_EQ(parts->name, name);
    EXPECT_EQ(parts->at, who);
    const auto floor = k.read(k.floor(name));
    ASSERT_TRUE(floor);
    EXPECT_EQ(floor->name, name);
    EXPECT_FALSE(floor->at);
  }
}

TEST(etcd_keys, a_name_has_its_own_keys_only) {
  const keys k{"p:"};
  const auto room = k.room("a");
  for (const char* other : {"a/", "a/b", "a}", "a}/", "a0", "ab", ""}) {
    const auto key = k.seat(other, who);
    EXPECT_TRUE(key < room.from || key >= room.to) << other;
  }
  const auto own = k.seat("a", who);
  EXPECT_TRUE(own >= room.from && own < room.to);
}

TEST(etcd_keys, all_seats_of_a_name_lie_before_its_floor) {
  const keys k{"p:"};
  const auto seats = k.seats("a");
  EXPECT_EQ(seats.from, k.room("a").from);
  EXPECT_EQ(seats.to, k.floor("a"));
  core::id last;
  last.bytes.fill(std::byte{0xff});
  EXPECT_LT(k.seat("a", last), seats.to);
}

TEST(etcd_keys, names_with_one_beginning_lie_side_by_side) {
  const keys k{"p:"};
  const auto range = k.beginning_with("a\xff");
  EXPECT_TRUE(k.seat("a\xff\xff", who) >= range.from && k.seat("a\xff\xff", who) < range.to);
  EXPECT_FALSE(k.seat("b", who) < range.to && k.seat("b", who) >= range.from);
}

TEST(etcd_keys, what_is_not_ours_is_not_read) {
  const keys k{"p:"};
  for (const char* key : {"", "q:{a}/floor", "p:a", "p:{a}", "p:{a}/", "p:{a}/xyz", "p:{%41}/floor", "p:{a/floor"}) {
    EXPECT_FALSE(k.read(key)) << key;
  }
  EXPECT_TRUE(keys::check_prefix("p{"));
  EXPECT_FALSE(keys::check_prefix("p/"));
}

}  // namespace
}  // namespace tyer::etcd
