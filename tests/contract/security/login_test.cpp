// Who is logged in stays so, whatever the server has forgotten.
#include "contract/security/target.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace security {
namespace {

std::string options() { return "--user '" + user + "' --password '" + password + "'"; }

std::string uri_of(const target& servers) {
  const auto of_sentinels = servers.sentinel_login(user, password);
  return servers.uri(target::login(user, password), of_sentinels.empty() ? "" : of_sentinels.substr(1));
}

TEST(login, servers_that_have_been_started_anew_are_logged_in_to_again) {
  target servers{options()};
  talk t{uri_of(servers)};
  ASSERT_TRUE(t.comes_up() && t.locks()) << t.said();
  servers.kill();
  ASSERT_TRUE(t.says(asked_of_redis() ? "cannot connect to" : "etcd: ")) << t.said();
  servers.restart();
  EXPECT_TRUE(t.comes_up()) << t.said();
  EXPECT_TRUE(t.locks()) << t.said();
}

// Every change of users or roles makes all tokens of etcd too old.
TEST(login, a_change_of_users_makes_etcds_tokens_old_and_nobody_notices) {
  if (asked_of_redis()) GTEST_SKIP() << "Redis has no tokens that grow old";
  target servers{options()};
  talk t{uri_of(servers)};
  ASSERT_TRUE(t.comes_up() && t.locks()) << t.said();
  for (int i = 0; i < 3; ++i) {
    const auto line = "etcdctl --endpoints '" + servers.hosts() + "' --user 'root:" + password + "' role add r" +
                      std::to_string(i) + " >/dev/null";
    ASSERT_EQ(std::system(line.c_str()), 0);
    EXPECT_TRUE(t.locks()) << t.said();
  }
}

// It was: etcd says so with a number that nobody had asked for, and an observer was told nothing for ever.
TEST(login, a_role_that_may_not_read_what_it_watches_is_told_so) {
  if (asked_of_redis()) GTEST_SKIP() << "Redis says so to whoever subscribes";
  target servers{options()};
  const auto as_root = [&](const std::string& words) {
    const auto line =
        "etcdctl --endpoints '" + servers.hosts() + "' --user 'root:" + password + "' " + words + " >/dev/null";
    ASSERT_EQ(std::system(line.c_str()), 0) << words;
  };
  as_root("role add some");
  as_root("role grant-permission some readwrite --prefix=true 'tyer:{secret'");
  as_root("role grant-permission some read 'tyer:{'");  // whether it is there
  as_root("user add somebody:hunter2");
  as_root("user grant-role somebody some");
  talk t{servers.uri(target::login("somebody", "hunter2"), "")};
  ASSERT_TRUE(t.comes_up() && t.locks()) << t.said();
  t.observes("secret/other");
  EXPECT_TRUE(t.locks()) << t.said();
  EXPECT_EQ(t.said().find("permission denied"), std::string::npos) << t.said();
  t.observes("elsewhere");
  EXPECT_TRUE(t.says("permission denied")) << t.said();
  EXPECT_TRUE(t.locks()) << t.said();
}

}  // namespace
}  // namespace security
