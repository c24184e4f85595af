#include "engines/redis/answers.hpp"

#include <gtest/gtest.h>

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

TEST(answers, nonsense_is_unknown) {
  for (const auto& text : {""s, "g"s, "12x"s, "-5"s, "99999999999999999999"s, "q"s, "q1"s, "q1 "s, "q1 2x"s, "b"s,
                           "bx"s, "b1 "s, "l"s, "z"s, "\0"s}) {
    EXPECT_EQ(kind(parse_acquire(text, 1s)), why::unknown) << text;
  }
  for (const auto& text : {""s, "x"s, "hh"s}) EXPECT_EQ(kind(parse_fate(text)), why::unknown) << text;
  EXPECT_EQ(kind(parse_fates("hh", 3)), why::unknown);
  EXPECT_EQ(kind(parse_fates("hxg", 3)), why::unknown);
  EXPECT_EQ(kind(parse_count("")), why::unknown);
}

TEST(answers, fates) {
  EXPECT_EQ(std::get<fate>(parse_fate("h")), fate::holding);
  EXPECT_EQ(std::get<fate>(parse_fate("w")), fate::waiting);
  EXPECT_EQ(std::get<fate>(parse_fate("g")), fate::gone);
  EXPECT_EQ(kind(parse_fate("c")), why::name_conflict);
  EXPECT_EQ(std::get<0>(parse_fates("hwg", 3)), (std::vector{fate::holding, fate::waiting, fate::gone}));
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
  EXPECT_TRUE(ends_connection("READONLY You can't write"));
  EXPECT_FALSE(ends_connection("OOM command not allowed"));
}

}  // namespace
