#include "engines/redis/deployment/cluster/hash_slot.hpp"

#include <gtest/gtest.h>

namespace {

using tyer::redis::hash_slot;

// The values that CLUSTER KEYSLOT answers.
TEST(hash_slot, is_that_of_the_servers) {
  EXPECT_EQ(hash_slot("123456789"), 0x31C3 % 16384);
  EXPECT_EQ(hash_slot("foo"), 12182);
  EXPECT_EQ(hash_slot(""), 0);
  EXPECT_EQ(hash_slot("tyer:{x}"), 16287);
}

TEST(hash_slot, only_the_tag_counts) {
  EXPECT_EQ(hash_slot("tyer:{foo}"), hash_slot("foo"));
  EXPECT_EQ(hash_slot("tyer:{foo}q"), hash_slot("foo"));
  EXPECT_EQ(hash_slot("{a}{b}"), hash_slot("a"));
}

TEST(hash_slot, an_empty_or_open_tag_is_none) {
  EXPECT_NE(hash_slot("a{}b"), hash_slot(""));
  EXPECT_EQ(hash_slot("a{b"), hash_slot("a{b"));
  EXPECT_NE(hash_slot("a{b"), hash_slot("b"));
  EXPECT_EQ(hash_slot("{{b}}"), hash_slot("{b"));
}

TEST(hash_slot, bytes_above_127) { EXPECT_EQ(hash_slot("\xff\xfe"), 3374); }

}  // namespace
