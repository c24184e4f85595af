#include <tyer/hold_id.hpp>

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <unordered_set>

namespace tyer {
namespace {

const std::string text = "0123456789abcdef0123456789abcdef02";

TEST(hold_id, is_shown_as_its_text) {
  const auto id = hold_id::from(text);
  EXPECT_EQ(id.view(), text);
  EXPECT_EQ(id.text(), text);
  std::ostringstream out;
  out << id << '/' << hold_id{};
  EXPECT_EQ(out.str(), text + "/");
  EXPECT_TRUE(hold_id{}.text().empty());
}

TEST(hold_id, is_a_key_of_hash_tables) {
  std::unordered_set<hold_id> seen{hold_id::from(text), hold_id{}};
  EXPECT_FALSE(seen.insert(hold_id::from(text)).second);
  EXPECT_TRUE(seen.insert(hold_id::from(std::string(hold_id::length, 'a'))).second);
  EXPECT_EQ(seen.size(), 3U);
}

}  // namespace
}  // namespace tyer
