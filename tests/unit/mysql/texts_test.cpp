// Statements and values as Boost.MySQL wants them.
#include "engines/mysql/texts.hpp"

#include <gtest/gtest.h>

namespace tyer::mysql {
namespace {

using order = std::vector<std::size_t>;

TEST(mysql_texts, values_are_counted_in_the_order_of_the_text) {
  const auto p = positional_of("UPDATE t SET a = $2, b = $12 WHERE c = $1 AND d = $2");
  EXPECT_EQ(p.text, "UPDATE t SET a = ?, b = ? WHERE c = ? AND d = ?");
  EXPECT_EQ(p.order, (order{1, 11, 0, 1}));
}

TEST(mysql_texts, a_dollar_that_is_no_value_stays) {
  const auto p = positional_of("JSON_TABLE($1, '$[*]' COLUMNS (e INT PATH '$'))");
  EXPECT_EQ(p.text, "JSON_TABLE(?, '$[*]' COLUMNS (e INT PATH '$'))");
  EXPECT_EQ(p.order, (order{0}));
}

TEST(mysql_texts, lists_are_text) {
  EXPECT_EQ(text_of(sql::bytes_list{}), "[]");
  EXPECT_EQ(text_of(sql::bytes_list{std::string{"\0\xff", 2}, "a\"'"}), R"(["00ff","612227"])");
  EXPECT_EQ(text_of(sql::number_list{}), "");
  EXPECT_EQ(text_of(sql::number_list{1, -2, 9'223'372'036'854'775'807}), "1,-2,9223372036854775807");
}

}  // namespace
}  // namespace tyer::mysql
