// Options of URIs, and names inside keys.
#include "engines/kit/options.hpp"

#include "engines/kit/escape.hpp"

#include <gtest/gtest.h>

namespace tyer::kit {
namespace {

core::uri with(const std::string& query) { return core::parse_uri("x://h/?" + query).value; }

TEST(options_test, a_number_is_all_of_its_text_and_in_its_range) {
  std::uint32_t n = 0;
  EXPECT_TRUE(read_number("7", 1, 9, n));
  EXPECT_EQ(n, 7U);
  for (const char* text : {"", "0", "10", "7 ", " 7", "+7", "-1", "7x", "99999999999999999999"}) {
    EXPECT_FALSE(read_number(text, 1, 9, n)) << text;
  }
}

TEST(options_test, a_number_that_is_not_given_stays_what_it_is) {
  auto u = with("other=1");
  std::uint32_t n = 5;
  EXPECT_FALSE(take_number(u, "waiters_max", 1, 9, n));
  EXPECT_EQ(n, 5U);
  EXPECT_EQ(u.query.size(), 1U);
}

TEST(options_test, a_wrong_number_is_told_with_its_range) {
  auto u = with("waiters_max=0");
  std::uint32_t n = 5;
  const auto f = take_number(u, "waiters_max", 1, 9, n, "seconds, ");
  EXPECT_EQ(f.code, errc::invalid_uri);
  EXPECT_EQ(f.words, "?waiters_max= must be seconds, 1 to 9");
}

TEST(options_test, an_option_of_tls_without_tls_was_told_as_one_that_does_not_exist) {
  for (const char* option : {"ca=a", "cert=a", "key=a", "verify=none"}) {
    const auto f = refuse_tls(core::parse_uri(std::string{"etcd://h?"} + option).value);
    EXPECT_EQ(f.code, errc::invalid_uri) << option;
    EXPECT_NE(f.words.find("with TLS the URI begins with etcds, not etcd"), std::string::npos) << f.words;
  }
  const auto f = refuse_tls(core::parse_uri("redis+sentinel://h/m?ca=a").value);
  EXPECT_NE(f.words.find("begins with rediss, not redis"), std::string::npos) << f.words;
  EXPECT_FALSE(refuse_tls(with("prefix=a")));
}

TEST(options_test, tls_is_verified_unless_somebody_says_no) {
  tls_options o;
  auto u = with("ca=a&cert=b&key=c");
  EXPECT_FALSE(take_tls(u, o));
  EXPECT_EQ(o.ca + o.cert + o.key, "abc");
  EXPECT_TRUE(o.verify);
  EXPECT_TRUE(u.query.empty());
  u = with("verify=none");
  EXPECT_FALSE(take_tls(u, o));
  EXPECT_FALSE(o.verify);
  for (const char* query : {"verify=no", "verify=", "cert=b", "key=c"}) {
    u = with(query);
    EXPECT_TRUE(take_tls(u, o)) << query;
  }
}

TEST(escape_test, comes_back_as_it_was) {
  for (const std::string_view name : {"", "plain", "%", "{}", "a{b}c%d", "%25", "%7B", "{{{", "a/b:c"}) {
    std::string text = "before ";
    escape(name, text);
    EXPECT_EQ(text.find_first_of("{}"), text.npos) << name;
    EXPECT_EQ(unescape(text.substr(7)), name);
  }
}

TEST(escape_test, what_it_never_writes_is_no_name) {
  for (const char* text : {"{", "a}b", "%", "%2", "%7b", "%41", "a%", "%25%"})
    EXPECT_EQ(unescape(text), std::nullopt) << text;
}

TEST(escape_test, a_beginning_stays_a_beginning) {
  std::string whole, part;
  escape("a{b}%c", whole);
  escape("a{b", part);
  EXPECT_TRUE(whole.starts_with(part));
}

}  // namespace
}  // namespace tyer::kit
