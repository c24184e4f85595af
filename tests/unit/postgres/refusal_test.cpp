// What libpq says of a connection that was not made.
#include "engines/postgres/wire.hpp"

#include <gtest/gtest.h>

namespace tyer::postgres {
namespace {

TEST(postgres_refusal, a_login_that_is_refused_is_so_for_good_and_its_name_is_not_told) {
  const auto r = refusal_in(
      "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  28P01: password authentication failed for user "
      "\"me\"\nLOCATION:  auth_failed, auth.c:326\n",
      "me");
  EXPECT_TRUE(r.for_good);
  EXPECT_EQ(
      r.words,
      "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  password authentication failed for user …");
}

TEST(postgres_refusal, a_server_that_starts_up_or_is_full_is_asked_again) {
  EXPECT_FALSE(refusal_in("… failed: FATAL:  57P03: the database system is starting up\n", "me").for_good);
  EXPECT_FALSE(refusal_in("… failed: FATAL:  53300: sorry, too many clients already\n", "me").for_good);
  EXPECT_FALSE(refusal_in("… failed: Connection refused\n\tIs the server running?\n", "me").for_good);
}

TEST(postgres_refusal, words_that_look_like_a_code_are_none) {
  EXPECT_FALSE(refusal_in("a:  28abc: no code\n", "").for_good);
  EXPECT_FALSE(refusal_in("a:  28P01", "").for_good);
  EXPECT_EQ(refusal_in("", "").words, "");
}

}  // namespace
}  // namespace tyer::postgres
