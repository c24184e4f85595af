// A server that does not let us in: the words say what to do, and no secrets.
#include "engines/redis/connection/greeting.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tyer::redis;
using greeting::step;

config where(const std::string& scheme = "redis") {
  config c;
  c.server = {"locks", 6379};
  c.user = "shop";
  c.password = "s3cr3t";
  c.shown = scheme + "://locks:6379";
  c.tls = scheme.starts_with("rediss");
  return c;
}

bool has(const std::string& words, std::string_view part) { return words.find(part) != words.npos; }

TEST(redis_greeting, a_missing_password_was_told_without_how_to_give_one) {
  const auto words = greeting::refused(where(), "NOAUTH HELLO must be called with the client already authenticated");
  EXPECT_TRUE(has(words, "redis://:PASSWORD@HOST or redis://USER:PASSWORD@HOST")) << words;
  EXPECT_TRUE(greeting::refuses_us("NOAUTH HELLO must be called"));
}

TEST(redis_greeting, a_sentinel_was_said_to_want_the_password_of_its_master) {
  auto sentinel = where();
  sentinel.deployment = shape::sentinel;
  const auto none = greeting::refused(sentinel, "NOAUTH Authentication required.");
  EXPECT_TRUE(has(none, "?sentinel_password=PASSWORD") && has(none, "if this is no sentinel")) << none;
  EXPECT_FALSE(has(none, ":PASSWORD@HOST")) << none;
  const auto wrong = greeting::refused(sentinel, "WRONGPASS invalid username-password pair or user is disabled.");
  EXPECT_TRUE(has(wrong, "check ?sentinel_user= and ?sentinel_password=")) << wrong;
}

TEST(redis_greeting, a_database_that_the_server_does_not_have_was_no_answer) {
  auto there = where();
  there.database = 77;
  const auto words = greeting::refused(there, "ERR DB index is out of range");
  EXPECT_TRUE(has(words, "DB index is out of range; correct the database at the end of the URI, /77")) << words;
  EXPECT_TRUE(greeting::refuses_us("ERR DB index is out of range"));
  const auto cluster = greeting::refused(there, "ERR SELECT is not allowed in cluster mode");
  EXPECT_TRUE(has(cluster, "take the database /77 out of the URI")) << cluster;
  EXPECT_TRUE(greeting::refuses_us("ERR SELECT is not allowed in cluster mode"));
}

TEST(redis_greeting, a_wrong_password_may_be_one_that_was_not_encoded) {
  const auto words = greeting::refused(where(), "WRONGPASS invalid username-password pair or user is disabled.");
  EXPECT_TRUE(has(words, "WRONGPASS") && has(words, "disabled; ") && has(words, "%40")) << words;
  EXPECT_TRUE(greeting::refuses_us("WRONGPASS invalid username-password pair"));
}

// They were outages, waited for again and again: a proxy that speaks RESP2 says it in its own words.
TEST(redis_greeting, a_password_that_a_proxy_does_not_take_was_an_outage) {
  EXPECT_TRUE(greeting::refuses_us("ERR invalid password"));
  EXPECT_TRUE(has(greeting::refused(where(), "ERR invalid password"), "check the user and the password in the URI"));
  const auto none = "ERR Client sent AUTH, but no password is set";
  EXPECT_TRUE(greeting::refuses_us(none));
  EXPECT_TRUE(has(greeting::refused(where(), none), "take the password out of the URI"));
}

// It was an outage, and told with the server's whole page about it.
TEST(redis_greeting, a_server_in_protected_mode_was_an_outage) {
  const auto page =
      "DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the "
      "default user. In this mode connections are only accepted from the loopback interface. If you want to connect …";
  EXPECT_TRUE(greeting::refuses_us(page));
  const auto words = greeting::refused(where(), page);
  EXPECT_TRUE(has(words, "DENIED") && has(words, "protected mode") && has(words, "redis://:PASSWORD@HOST")) << words;
  EXPECT_FALSE(has(words, "loopback interface")) << words;
}

TEST(redis_greeting, what_passes_is_no_refusal) {
  for (const char* error : {"ERR max number of clients reached", "LOADING Redis is loading the dataset in memory",
                            "MASTERDOWN Link with MASTER is down", "ERR anything else"}) {
    EXPECT_FALSE(greeting::refuses_us(error)) << error;
  }
}

TEST(redis_greeting, an_old_server_repeated_the_password_in_its_error) {
  const auto words = greeting::refused(
      where(), "ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `shop`, `s3cr3t`, `SETNAME`,");
  EXPECT_FALSE(has(words, "s3cr")) << words;
  EXPECT_TRUE(has(words, "Redis 6.2 or newer")) << words;
  EXPECT_FALSE(has(greeting::refused(where(), "ERR unknown command `HELLO`, with args beginning with: `s3c"), "s3c"));
  EXPECT_FALSE(has(greeting::refused(where(), "ERR what is s3cr3t, and s3cr3t?"), "s3cr3t"));
}

TEST(redis_greeting, a_proxy_that_knows_no_hello_is_told_from_a_login_that_is_refused) {
  EXPECT_TRUE(greeting::knows_no_hello("ERR unknown command `HELLO`, with args beginning with: `3`,"));
  EXPECT_TRUE(greeting::knows_no_hello("NOPROTO unsupported protocol version"));
  EXPECT_FALSE(greeting::knows_no_hello("WRONGPASS invalid username-password pair or user is disabled."));
  EXPECT_FALSE(greeting::knows_no_hello("NOAUTH HELLO must be called with the client already authenticated"));
  EXPECT_TRUE(has(greeting::too_old(where(), "5.0.7"), "is Redis 5.0.7; Redis 6.2 or newer"));
}

TEST(redis_greeting, tls_on_one_side_only_was_told_as_silence) {
  EXPECT_TRUE(has(greeting::too_slow(where("rediss"), step::securing), "if that port does not speak TLS"));
  EXPECT_TRUE(has(greeting::advice_when_lost(where(), step::greeting), "if that port speaks TLS"));
  EXPECT_EQ(greeting::advice_when_lost(where("rediss"), step::greeting), "");
  EXPECT_EQ(greeting::advice_when_lost(where(), step::greeted), "");
}

TEST(redis_greeting, how_far_a_slow_attempt_came) {
  EXPECT_TRUE(has(greeting::too_slow(where(), step::looking_up), "host name locks"));
  EXPECT_TRUE(has(greeting::too_slow(where(), step::connecting), "cannot connect to redis://locks:6379"));
  EXPECT_TRUE(has(greeting::too_slow(where(), step::greeting), "greeting us"));
}

}  // namespace
