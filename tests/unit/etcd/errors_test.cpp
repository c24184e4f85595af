// What etcd says no with, and what it means for a request: certainly not done, perhaps done, or refused for good.
#include "engines/etcd/link.hpp"

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

}  // namespace
}  // namespace tyer::etcd
