#include "core/name.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tyer::core {
namespace {

TEST(name, is_one_to_1024_bytes) {
  EXPECT_EQ(check_name("").code, errc::invalid_name);
  EXPECT_FALSE(check_name("a"));
  EXPECT_FALSE(check_name(std::string(name_bytes_max, 'x')));
  EXPECT_EQ(check_name(std::string(name_bytes_max + 1, 'x')).code, errc::invalid_name);
  EXPECT_EQ(check_name(std::string(64 << 10, 'x')).code, errc::invalid_name);
}

TEST(name, may_hold_any_bytes) {
  using namespace std::string_view_literals;
  for (const auto hostile : {"\0"sv, "a\r\nb"sv,   "\r\n$-1\r\n"sv, "{}"sv,       "{"sv,
                             "}{"sv, "{a}{b}"sv,   ".."sv,          "/"sv,        "//"sv,
                             "a/"sv, "\xff\xfe"sv, "\xc0\x80"sv,    "\xa1\x27"sv, "'; DROP TABLE locks"sv,
                             "`"sv,  "%s%n"sv,     "$1"sv,          "*?["sv,      "\x7f"sv}) {
    EXPECT_FALSE(check_name(hostile));
  }
}

TEST(name, errors_say_how_long_it_was) {
  const auto f = check_name(std::string(2000, 'x'));
  EXPECT_NE(f.words.find("2000"), std::string::npos);
  EXPECT_EQ(f.words.find("xxxx"), std::string::npos) << "a name may be a secret, or too long for a log";
}

TEST(name, printable_shows_every_byte_in_one_line) {
  using namespace std::string_view_literals;
  EXPECT_EQ(printable("order/42 ~"), "order/42 ~");
  EXPECT_EQ(printable("a\r\n\0\x1b[2J"sv), "a\\x0d\\x0a\\x00\\x1b[2J");
  EXPECT_EQ(printable("\x7f\xff"), "\\x7f\\xff");
  EXPECT_EQ(printable("\\x41"), "\\x5cx41") << "what was escaped and what looked so must differ";
}

// It was: in an event "a is lost, b" could be one name, or one and a half.
TEST(name, quoted_ends_where_the_name_ends) {
  EXPECT_EQ(quoted("order/42"), "\"order/42\"");
  EXPECT_EQ(quoted("a\" is lost, \"b\n"), "\"a\\x22 is lost, \\x22b\\x0a\"");
}

}  // namespace
}  // namespace tyer::core
