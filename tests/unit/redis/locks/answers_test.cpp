#include "engines/redis/locks/answers.hpp"

#include <tyer/error.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace tyer::redis;
using tyer::engine::answer;
using tyer::engine::failure;
using tyer::engine::fate;
using tyer::engine::why;

why kind(const auto& result) { return std::get<failure>(result).kind; }

TEST(answers, acquire) {
  const auto granted = std::get<tyer::engine::granted>(std::get<answer>(parse_acquire("9007199254740991", 10s)));
  EXPECT_EQ(granted.part, 9007199254740991u);
  EXPECT_EQ(granted.ttl, 10s);
  const auto queued = std::get<tyer::engine::queued>(std::get<answer>(parse_acquire("q17 3000", 10s)));
  EXPECT_EQ(queued.ahead, 17u);
  EXPECT_EQ(queued.look_again, 3s);
  EXPECT_EQ(std::get<tyer::engine::busy>(std::get<answer>(parse_acquire("b12", 10s))).hint, 12ms);
  EXPECT_EQ(std::get<too_late>(parse_acquire("l1763000000000000", 10s)).server,
            std::chrono::microseconds{1763000000000000});
  EXPECT_EQ(kind(parse_acquire("c", 10s)), why::name_conflict);
  EXPECT_EQ(kind(parse_acquire("o", 10s)), why::over_limit);
  EXPECT_EQ(kind(parse_acquire("p", 10s)), why::refused);
}

TEST(answers, permits) {
  const auto granted = std::get<tyer::engine::granted>(std::get<answer>(parse_acquire("s17 0-2 7-7", 10s)));
  EXPECT_EQ(granted.part, 17u);
  EXPECT_EQ(granted.ttl, 10s);
  EXPECT_EQ(granted.slots, (std::vector<std::uint32_t>{0, 1, 2, 7}));
  EXPECT_EQ(kind(parse_acquire("h", 10s)), why::over_limit);
  const auto other = std::get<failure>(parse_acquire("n3", 10s));
  EXPECT_EQ(other.kind, why::refused);
  EXPECT_NE(other.words.find("with 3 permits"), other.words.npos);
  EXPECT_EQ(kind(parse_acquire("m", 10s)), why::refused);
}

TEST(answers, convert) {
  const auto granted = std::get<tyer::engine::granted>(std::get<answer>(parse_acquire("t17 2500", 10s)));
  EXPECT_EQ(granted.part, 17u);
  EXPECT_EQ(granted.ttl, 2500ms);
  EXPECT_EQ(std::get<failure>(parse_acquire("g", 10s)).code, make_error_code(tyer::errc::lost));
  EXPECT_EQ(kind(parse_acquire("u", 10s)), why::unsupported);
}

TEST(answers, slots) {
  EXPECT_TRUE(parse_slots("")->empty());
  EXPECT_EQ(parse_slots("65535-65535")->size(), 1u);
  for (const char* text : {"1", "1-", "2-1", "-1", "0-65536", "a-b", "0-1x", "0-65535 0-65535"})
    EXPECT_FALSE(parse_slots(text)) << text;
}

TEST(answers, nonsense_is_unknown) {
  for (const auto& text : {""s,     "12x"s, "-5"s,   "99999999999999999999"s,
                           "q"s,    "q1"s,  "q1 "s,  "q1 2x"s,
                           "b"s,    "bx"s,  "b1 "s,  "l"s,
                           "z"s,    "\0"s,  "s1"s,   "sx 0-0"s,
                           "s1 0"s, "t1"s,  "t1 x"s, "n"s,
                           "nx"s}) {
    EXPECT_EQ(kind(parse_acquire(text, 1s)), why::unknown) << text;
  }
  for (const auto& text : {""s, "x"s, "hh"s}) EXPECT_EQ(kind(parse_fate(text)), why::unknown) << text;
  EXPECT_EQ(kind(parse_kept("hh", 3, 1s)), why::unknown);
  EXPECT_EQ(kind(parse_kept("hxg", 3, 1s)), why::unknown);
  EXPECT_EQ(kind(parse_count("")), why::unknown);
}

TEST(answers, fates) {
  EXPECT_EQ(std::get<fate>(parse_fate("h")), fate::holding);
  EXPECT_EQ(std::get<fate>(parse_fate("w")), fate::waiting);
  EXPECT_EQ(std::get<fate>(parse_fate("g")), fate::gone);
  EXPECT_EQ(kind(parse_fate("c")), why::name_conflict);
  EXPECT_EQ(kind(parse_fate("u")), why::unknown);
  EXPECT_EQ(std::get<0>(parse_kept("hwgu", 4, 1s)).fates,
            (std::vector{fate::holding, fate::waiting, fate::gone, fate::unknown}));
}

TEST(answers, what_the_server_says_instead) {
  for (const char* text :
       {"LOADING Redis is loading the dataset in memory", "READONLY You can't write against a read only replica.",
        "MASTERDOWN Link with MASTER is down", "OOM command not allowed when used memory > 'maxmemory'.",
        "MISCONF Redis is configured to save RDB snapshots", "BUSY Redis is busy running a script.",
        "NOSCRIPT No matching script. Please use EVAL.", "EXECABORT Transaction discarded"}) {
    EXPECT_EQ(refusal(text).kind, why::not_sent) << text;
  }
  for (const char* text :
       {"NOAUTH Authentication required.", "WRONGPASS invalid username-password pair", "NOPERM no permissions"}) {
    EXPECT_EQ(refusal(text).kind, why::refused) << text;
  }
  EXPECT_EQ(refusal("WRONGTYPE Operation against a key holding the wrong kind of value").kind, why::name_conflict);
  EXPECT_EQ(refusal("ERR Error running script (call to f_0): @user_script:1: WRONGTYPE Operation").kind,
            why::name_conflict);
  EXPECT_EQ(refusal("ERR user_script:3: something").kind, why::unknown);
  const char* inside =
      "ERR Error running script (call to f_0): @user_script:9: @user_script: 9: -READONLY You can't write against a "
      "read "
      "only replica.";
  EXPECT_EQ(refusal(inside).kind, why::not_sent);
  EXPECT_TRUE(ends_connection(inside));
  EXPECT_EQ(refusal("@user_script: 9: -OOM command not allowed when used memory > 'maxmemory'.").kind, why::not_sent);
  EXPECT_EQ(refusal("ERR user_script:3: it said: -SOMETHING else").kind, why::unknown);
  EXPECT_TRUE(ends_connection("READONLY You can't write"));
  EXPECT_FALSE(ends_connection("OOM command not allowed"));
}

// Went wrong: it was told as an outage. The words are those of Redis 6.2 (twice), 7.0 and 7.2, and of Valkey.
TEST(answers, a_permission_that_is_missing_inside_a_script_was_no_refusal) {
  for (const char* text :
       {"ERR Error running script (call to f_0): @user_script:9: @user_script: 9: The user executing the script can't "
        "run "
        "this command or subcommand",
        "ERR Error running script (call to f_0): @user_script:9: @user_script: 9: The user executing the script can't "
        "access at least one of the keys mentioned in the command arguments",
        "ERR The user executing the script can't run this command or subcommand script: 104a, on @user_script:1.",
        "ERR ACL failure in script: User u has no permissions to run the 'zadd' command script: 8a2f, on "
        "@user_script:4.",
        "NOPERM User u has no permissions to run the 'zadd' command script: 8a2f, on @user_script:4."}) {
    const auto f = refusal(text);
    EXPECT_EQ(f.code, make_error_code(tyer::errc::refused)) << text;
    EXPECT_EQ(f.kind, why::unknown) << "what it did before stays done: " << text;
  }
}

TEST(answers, a_right_that_is_missing_was_not_named) {
  const std::pair<const char*, const char*> all[] = {
      {"NOPERM this user has no permissions to run the 'evalsha' command", "lacks +evalsha;"},
      {"NOPERM User u has no permissions to run the 'script|load' command", "lacks +script|load;"},
      {"NOPERM this user has no permissions to access one of the keys used as arguments",
       "lacks the keys of the prefix"},
      {"NOPERM No permissions to access a key", "~PREFIX*"},
      {"NOPERM this user has no permissions to access one of the channels used as arguments", "&PREFIX*"},
      {"ERR ACL failure in script: User u has no permissions to run the 'zadd' command script: 8a2f, on "
       "@user_script:4.",
       "lacks +zadd;"},
      {"ERR The user executing the script can't run this command or subcommand script: 104a, on @user_script:1.",
       "lacks a command of the scripts"},
      {"NOPERM no permissions", "Least privilege"},
  };
  for (const auto& [text, grant] : all) {
    const auto words = refusal(text).words;
    EXPECT_TRUE(words.starts_with(text)) << "the server's own words come first: " << words;
    EXPECT_NE(words.find(grant), words.npos) << words;
  }
}

}  // namespace
