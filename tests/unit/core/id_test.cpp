#include "core/id.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tyer::core {
namespace {

TEST(id, comes_back_from_its_bytes) {
  random_ids ids;
  const id i = ids.next();
  EXPECT_EQ(id::from(i.view()), i);
  EXPECT_TRUE(i);
}

TEST(id, is_null_if_the_bytes_are_not_sixteen) {
  EXPECT_FALSE(id::from(""));
  EXPECT_FALSE(id::from(std::string(15, 'x')));
  EXPECT_FALSE(id::from(std::string(17, 'x')));
  EXPECT_EQ(id::from("short"), id{});
}

TEST(id, begins_with_the_nonce_of_its_client) {
  random_ids ids;
  EXPECT_EQ(ids.next().nonce(), ids.nonce());
  EXPECT_NE(ids.next().serial(), ids.next().serial());
}

TEST(id, never_comes_twice) {
  std::set<id> seen;
  random_ids a, b;
  EXPECT_NE(a.nonce(), b.nonce());
  for (int n = 0; n < 1000; ++n) {
    EXPECT_TRUE(seen.insert(a.next()).second);
    EXPECT_TRUE(seen.insert(b.next()).second);
  }
}

TEST(id, is_shown_in_hex) {
  EXPECT_EQ(to_hex(std::string_view{"\x00\x0f\xf0\xff", 4}), "000ff0ff");
  EXPECT_EQ(to_hex(id{}), std::string(32, '0'));
}

}  // namespace
}  // namespace tyer::core
