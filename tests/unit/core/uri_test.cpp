#include "core/uri.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tyer::core {
namespace {

uri good(std::string_view text) {
  auto p = parse_uri(text);
  EXPECT_FALSE(p.error) << text << ": " << p.error.words;
  return p.value;
}

failure bad(std::string_view text) {
  const auto p = parse_uri(text);
  EXPECT_EQ(p.error.code, errc::invalid_uri) << text;
  EXPECT_FALSE(p.error.words.empty()) << text;
  EXPECT_TRUE(p.value.scheme.empty() && p.value.hosts.empty() && p.value.password.empty()) << text;
  return p.error;
}

TEST(uri, has_all_its_parts) {
  const uri u = good("redis://shop:secret@cache-1:6380,cache-2/3?prefix=a%3A&tls=on");
  EXPECT_EQ(u.scheme, "redis");
  EXPECT_EQ(u.user, "shop");
  EXPECT_EQ(u.password, "secret");
  EXPECT_EQ(u.hosts, (std::vector<endpoint>{{"cache-1", 6380}, {"cache-2", 0}}));
  EXPECT_EQ(u.path, "3");
  EXPECT_EQ(u.query, (std::vector<std::pair<std::string, std::string>>{{"prefix", "a:"}, {"tls", "on"}}));
}

TEST(uri, may_have_no_host) {
  const uri u = good("memory://");
  EXPECT_EQ(u.scheme, "memory");
  EXPECT_TRUE(u.hosts.empty());
}

TEST(uri, knows_ipv6) {
  EXPECT_EQ(good("redis://[::1]:6379").hosts, (std::vector<endpoint>{{"::1", 6379}}));
  EXPECT_EQ(good("redis://[fe80::1]").hosts, (std::vector<endpoint>{{"fe80::1", 0}}));
  EXPECT_EQ(good("redis://[::1]:6379").shown(), "redis://[::1]:6379");
  static_cast<void>(bad("redis://[::1"));
  static_cast<void>(bad("redis://[::1]6379"));
  static_cast<void>(bad("redis://[::1]:"));
}

TEST(uri, a_password_may_hold_every_character_if_encoded) {
  EXPECT_EQ(good("redis://:p%40s%3As%2Fw%3Fo%23r%25d@host").password, "p@s:s/w?o#r%d");
  EXPECT_EQ(good("redis://u%3Aser:p@host").user, "u:ser");
  EXPECT_EQ(good("redis://:%00%ff@host").password, (std::string{"\0\xff", 2}));
}

TEST(uri, a_password_with_a_bare_at_or_colon_is_still_found) {
  const uri u = good("redis://user:p@ss:w@host:1");
  EXPECT_EQ(u.user, "user");
  EXPECT_EQ(u.password, "p@ss:w");
  EXPECT_EQ(u.hosts, (std::vector<endpoint>{{"host", 1}}));
}

// Hostile input 22: what cannot be understood must not be repeated, because it may be the password.
TEST(uri, an_error_never_shows_a_secret) {
  const std::string secret = "hunter2";
  for (const std::string& password : {secret + "/x", secret + "?x", secret + "#x", secret + "%", secret + "%zz",
                                      "%" + secret, secret + "@@", secret + ":99999999/"}) {
    const auto p = parse_uri("redis://user:" + password + "@host:6379/0?x=1");
    EXPECT_EQ(p.error.words.find("hunter2"), std::string::npos) << p.error.words;
    const std::string what = tyer::error(p.error ? p.error : failure{errc::invalid_uri}).what();
    EXPECT_EQ(what.find("hunter2"), std::string::npos) << what;
  }
}

TEST(uri, a_password_cut_by_a_slash_says_what_to_do) {
  EXPECT_NE(bad("redis://user:pass/word@host").words.find("percent-encoded"), std::string::npos);
}

// Were it taken as it stands, a piece of the password would be the host, the port or an option, and be shown as such.
TEST(uri, a_password_that_is_cut_off_is_never_taken_for_something_else) {
  for (const auto* text :
       {"redis://user:1?hunter2@host", "redis://user:1?hunter2=x@host", "redis://user:1#hunter2@host",
        "redis://user:1/hunter2@host", "redis://user:p@1?hunter2@host", "redis://:1?a=1&hunter2@host"}) {
    EXPECT_NE(bad(text).words.find("percent-encoded"), std::string::npos) << text;
  }
  EXPECT_EQ(good("redis://user:secret@host?ca=/a%40b").query.at(0).second, "/a@b");
}

TEST(uri, an_option_is_known_once_somebody_has_asked_for_it) {
  uri u = good("redis://h?ca=/a&colour=red");
  EXPECT_EQ(u.take("ca"), "/a");
  EXPECT_EQ(u.take("prefix"), std::nullopt);
  EXPECT_EQ(u.take("ca"), std::nullopt);
  EXPECT_EQ(u.find("cert"), std::nullopt);
  EXPECT_EQ(u.known, (std::vector<std::string>{"ca", "prefix"}));
}

TEST(uri, shown_leaves_out_what_could_be_secret) {
  EXPECT_EQ(good("redis://user:hunter2@a:1,b/hunter2?token=hunter2").shown(), "redis://a:1,b");
}

TEST(uri, refuses_what_is_no_uri) {
  for (const auto* text : {"",
                           "redis",
                           "://host",
                           "redis:/host",
                           "red is://host",
                           "REDIS://host",
                           "redis://host:0",
                           "redis://host:65536",
                           "redis://host:",
                           "redis://host:-1",
                           "redis://host:1x",
                           "redis://:6379",
                           "redis://a,,b",
                           "redis://a,",
                           "redis://,a",
                           "redis://h/%",
                           "redis://h/%4",
                           "redis://h/%zz",
                           "redis://h?%=1",
                           "redis://h?=1",
                           "redis://h?a=%f",
                           "redis://%@h"}) {
    static_cast<void>(bad(text));
  }
}

// Read from a file, or put together by a script.
TEST(uri, a_newline_at_its_end_was_of_another_host_or_another_prefix) {
  for (const char* text : {"redis://h\n", "redis://h ", "redis://h?prefix=a\n", "redis://h?prefix=a ", "memory://x\r\n",
                           "redis://h\t/0", "redis://:a b@h", "redis://h\x7f"}) {
    EXPECT_NE(bad(text).words.find("percent-encoded"), std::string::npos) << text;
  }
  EXPECT_EQ(good("redis://:a%20b@h?prefix=%0a").password, "a b");
}

TEST(uri, what_stood_behind_a_number_sign_was_ignored) {
  for (const char* text : {"redis://h#x", "redis://h/0#x", "redis://h?prefix=a#b", "memory://x#", "redis://#"}) {
    EXPECT_NE(bad(text).words.find("%23"), std::string::npos) << text;
  }
  EXPECT_EQ(good("redis://h?prefix=a%23b").query.front().second, "a#b");
}

TEST(uri, refuses_a_nul_byte) { static_cast<void>(bad(std::string_view{"redis://a\0b", 11})); }

TEST(uri, survives_a_megabyte) {
  const std::string much(1 << 20, 'a');
  EXPECT_EQ(good("redis://" + much).hosts.front().host.size(), much.size());
  static_cast<void>(bad("redis://h:" + std::string(1 << 20, '9')));
}

TEST(uri, take_removes_what_somebody_understood) {
  uri u = good("redis://h?a=1&b=2&a=3");
  EXPECT_EQ(u.take("a"), "1");
  EXPECT_EQ(u.take("a"), "3");
  EXPECT_EQ(u.take("a"), std::nullopt);
  ASSERT_EQ(u.query.size(), 1u);
  EXPECT_EQ(u.query.front().first, "b");
}

}  // namespace
}  // namespace tyer::core
