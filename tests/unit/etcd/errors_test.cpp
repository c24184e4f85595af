// What etcd says no with, and what it means for a request: certainly not done, perhaps done, or refused for good.
#include "engines/etcd/client/link.hpp"

#include <gtest/gtest.h>

namespace tyer::etcd {
namespace {

why kind(wire::code c, const char* words) { return explain({c, words}).kind; }

TEST(etcd_errors, too_many_requests_is_worth_another_try) {
  EXPECT_EQ(kind(wire::code::resource_exhausted, "etcdserver: too many requests"), why::not_sent);
}

TEST(etcd_errors, a_full_database_is_not) {
  EXPECT_EQ(kind(wire::code::resource_exhausted, "etcdserver: mvcc: database space exceeded"), why::over_limit);
}

TEST(etcd_errors, a_learner_was_a_refusal_for_good) {
  EXPECT_EQ(kind(wire::code::failed_precondition, "etcdserver: rpc not supported for learner"), why::not_sent);
  EXPECT_EQ(kind(wire::code::failed_precondition, "etcdserver: not capable"), why::not_sent);
  EXPECT_EQ(kind(wire::code::failed_precondition, "etcdserver: user name not found"), why::refused);
}

TEST(etcd_errors, whatever_may_have_been_done_is_unknown) {
  for (const char* words : {"etcdserver: request timed out", "etcdserver: leader changed", "etcdserver: no leader",
                            "etcdserver: request timed out, possibly due to previous leader failure",
                            "etcdserver: server stopped", "connection reset"}) {
    EXPECT_EQ(kind(wire::code::unavailable, words), why::unknown) << words;
  }
  EXPECT_EQ(kind(wire::code::deadline_exceeded, "Deadline Exceeded"), why::unknown);
  EXPECT_EQ(kind(wire::code::cancelled, "CANCELLED"), why::unknown);
  EXPECT_EQ(kind(static_cast<wire::code>(15), "etcdserver: corrupt cluster"), why::unknown);
  EXPECT_EQ(kind(static_cast<wire::code>(2), "something new"), why::unknown);
}

TEST(etcd_errors, who_may_not_is_refused_but_a_token_that_was_forgotten_is_asked_for_again) {
  EXPECT_EQ(kind(wire::code::permission_denied, "etcdserver: permission denied"), why::refused);
  EXPECT_TRUE(is_old_token({wire::code::unauthenticated, "etcdserver: invalid auth token"}));
  EXPECT_TRUE(is_old_token({wire::code::invalid_argument, "etcdserver: revision of auth store is old"}));
  EXPECT_FALSE(is_old_token({wire::code::permission_denied, "etcdserver: permission denied"}));
}

TEST(etcd_errors, whoever_knows_no_users_asks_nobody_to_log_in) {
  EXPECT_TRUE(says_no_users(explain({wire::code::failed_precondition, "etcdserver: authentication is not enabled"})));
  EXPECT_FALSE(says_no_users(explain({wire::code::invalid_argument, "etcdserver: authentication failed"})));
}

TEST(etcd_errors, what_never_left_was_not_sent) {
  for (const auto c : {wire::code::unavailable, wire::code::deadline_exceeded, wire::code::cancelled}) {
    EXPECT_EQ(explain({c, "no connection in time", false}).kind, why::not_sent);
    EXPECT_EQ(explain({c, "no connection in time", false}).code, errc::unavailable);
  }
}

}  // namespace
}  // namespace tyer::etcd
