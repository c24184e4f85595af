// Which keys a client uses again, and when.
#include "engines/etcd/locks/numbers.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tyer::etcd {
namespace {

const core::id drawn = core::id::from("a client: ......");

core::id id_of(char c) { return core::id::from(std::string(16, c)); }

std::string number_of(const core::id& at) {
  EXPECT_EQ(at.view().substr(0, 12), drawn.view().substr(0, 12));
  return core::to_hex(at.view().substr(12));
}

TEST(etcd_numbers, the_smallest_that_nobody_has_is_given) {
  numbers n{drawn};
  EXPECT_EQ(number_of(n.of("x", id_of('a'))), "00000000");
  EXPECT_EQ(number_of(n.of("x", id_of('b'))), "00000001");
  EXPECT_EQ(number_of(n.of("x", id_of('c'))), "00000002");
  n.free("x", n.of("x", id_of('b')));
  n.free("x", n.of("x", id_of('a')));
  EXPECT_EQ(number_of(n.of("x", id_of('d'))), "00000000");
  EXPECT_EQ(number_of(n.of("x", id_of('e'))), "00000001");
  EXPECT_EQ(number_of(n.of("x", id_of('f'))), "00000003");
  EXPECT_EQ(number_of(n.of("y", id_of('f'))), "00000000") << "each name has its own";
}

TEST(etcd_numbers, an_id_has_one_until_it_is_free) {
  numbers n{drawn};
  const auto at = n.of("x", id_of('a'));
  EXPECT_EQ(n.of("x", id_of('a')), at);
  EXPECT_EQ(n.find("x", id_of('a')), at);
  EXPECT_EQ(n.whose("x", at), id_of('a'));
  n.free("x", at);
  EXPECT_EQ(n.find("x", id_of('a')), std::nullopt);
  EXPECT_EQ(n.whose("x", at), std::nullopt);
}

TEST(etcd_numbers, one_where_something_else_lies_is_nobodys_until_it_is_free) {
  numbers n{drawn};
  const auto at = n.of("x", id_of('a')), other = n.another("x", id_of('a'));
  EXPECT_NE(at, other);
  EXPECT_EQ(n.of("x", id_of('a')), other);
  EXPECT_EQ(n.whose("x", at), core::id{});
  EXPECT_EQ(number_of(n.of("x", id_of('b'))), "00000002");
  n.free("x", at);
  EXPECT_EQ(n.of("x", id_of('c')), at);
}

TEST(etcd_numbers, those_that_are_drawn_anew_were_never_given_before) {
  numbers n{drawn};
  const auto old = n.of("x", id_of('a'));
  n.draw_anew(core::id::from("the second: ...."));
  EXPECT_EQ(n.of("x", id_of('a')), old) << "it may lie there";
  const auto at = n.of("x", id_of('b'));
  EXPECT_FALSE(n.has(old));
  EXPECT_TRUE(n.has(at));
  EXPECT_EQ(core::to_hex(at.view().substr(12)), "00000000");
  n.free("x", old);
  EXPECT_NE(n.of("x", id_of('a')), old);
}

TEST(etcd_numbers, what_is_another_clients_is_nobodys_here) {
  numbers n{drawn}, others{core::id::from("another one: ...")};
  n.of("x", id_of('a'));
  const auto at = others.of("x", id_of('b'));
  EXPECT_EQ(n.whose("x", at), std::nullopt);
  EXPECT_FALSE(n.has(at));
  EXPECT_TRUE(others.has(at));
  n.free("x", at);
  EXPECT_NE(n.find("x", id_of('a')), std::nullopt);
}

}  // namespace
}  // namespace tyer::etcd
