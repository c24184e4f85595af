#include "engines/redis/locks/keys.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace {

using tyer::redis::keys;
using namespace std::string_literals;

TEST(keys, the_whole_name_is_the_hash_tag) {
  const keys k{"tyer:"};
  EXPECT_EQ(k.state("order/42"), "tyer:{order/42}");
  EXPECT_EQ(k.state("a{b}c"), "tyer:{a%7Bb%7Dc}");
  EXPECT_EQ(k.state("100%"), "tyer:{100%25}");
}

TEST(keys, appends_to_what_is_there) {
  std::string out = "x";
  keys{"p"}.state("n", out);
  EXPECT_EQ(out, "xp{n}");
}

// Names that would fall together if one of % { } were not escaped, or a prefix captured another.
const std::vector<std::string> hostile{"a",        "a/b",    "a}",    "a}q",   "a}w",
                                       "{a}",      "{",      "}",     "%",     "%7B",
                                       "%7D",      "%25",    "%257B", "a\0b"s, "a\r\nb",
                                       "\xff\xfe", "a*",     "a?",    "[a]",   "a\\b",
                                       "inbox:",   "{a}{b}", "a}{b",  " ",     std::string(1024, '{')};

TEST(keys, are_different_for_different_names) {
  const keys k{"tyer:"};
  std::set<std::string> seen;
  for (const auto& name : hostile) {
    for (const char* suffix : {"", "q", "w"}) EXPECT_TRUE(seen.insert(k.state(name) + suffix).second) << name;
  }
}

TEST(keys, lead_back_to_the_name) {
  const keys k{"tyer:"};
  for (const auto& name : hostile) {
    EXPECT_EQ(k.name_of(k.state(name)), name);
    EXPECT_EQ(k.name_of(k.state(name) + "q"), std::nullopt);
    EXPECT_EQ(k.name_of(k.state(name) + "w"), std::nullopt);
  }
}

TEST(keys, a_foreign_key_has_no_name) {
  const keys k{"tyer:"};
  for (const char* key :
       {"", "tyer:", "tyer:{", "tyer:{}", "tyer:x", "other:{a}", "tyer:{a%zz}", "tyer:{a%}", "tyer:{a}b}"}) {
    EXPECT_EQ(k.name_of(key), std::nullopt) << key;
  }
}

TEST(keys, the_pattern_takes_nothing_for_a_wildcard) {
  EXPECT_EQ(keys{"t*:"}.pattern("a?[x]{"), "t\\*:{a\\?\\[x\\]%7B*");
}

TEST(keys, a_prefix_with_braces_is_refused) {
  EXPECT_FALSE(keys::check_prefix("tyer:"));
  EXPECT_FALSE(keys::check_prefix(""));
  EXPECT_TRUE(keys::check_prefix("{tyer}:"));
  EXPECT_TRUE(keys::check_prefix("a}"));
}

TEST(keys, the_inbox_is_named_by_the_first_half_of_an_id) {
  tyer::core::id i;
  for (std::size_t n = 0; n < 16; ++n) i.bytes[n] = static_cast<std::byte>(n + 1);
  EXPECT_EQ(keys{"tyer:"}.inbox(i.nonce()), "tyer:inbox:0102030405060708");
}

}  // namespace
