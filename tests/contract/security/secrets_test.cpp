// No password and no user is ever read in a log, in the words of a failure or in what().
#include "contract/security/target.hpp"

#include <tyer/client.hpp>
#include <tyer/election.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>

namespace security {
namespace {

// Of Redis: a second user who may do next to nothing, and a third who has a prefix. Of etcd, see under_role.
const char* more_users() {
  if (!asked_of_redis()) return "";
  return " --set 'user=limited on >hunter2limited ~* -@all +hello +auth +client|setname'"
         " --set 'user=other on >hunter2other ~other:* &other:* +@all'";
}
constexpr const char* other_users_elsewhere =
    "users of etcd have roles, nodes of ZooKeeper an owner: engine_contract.etcd_role, .zk_login and .zk_acl ask this";

const char* said_of_a_wrong_password() {
  if (asked_of_zookeeper()) return "refused the credentials";
  return asked_of_redis() ? "WRONGPASS" : "invalid user ID or password";
}

// Servers with TLS, a user and a password.
class secrets : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    servers = std::make_unique<target>("--tls --user '" + user + "' --password '" + password + "'" + more_users());
  }
  static void TearDownTestSuite() { servers.reset(); }

  static std::string query() { return "ca=" + servers->file("ca.crt"); }
  static std::string right_uri(const std::string& host = {}) {
    return servers->uri(target::login(user, password), query() + servers->sentinel_login(user, password), host);
  }
  // Refused, in the end with these words, and none of all that is said is secret.
  static void refused(const std::string& uri, std::string_view words = {}) {
    // etcd takes a tenth of a second to check a password, on a machine that does nothing else.
    talk t{uri, std::chrono::milliseconds{asked_of_redis() ? 200 : 2000}};
    EXPECT_FALSE(t.ready());
    EXPECT_FALSE(t.locks());
    EXPECT_TRUE(t.says(words)) << t.said();
    EXPECT_GT(t.said().size(), 20U) << "and why?";
    EXPECT_EQ(secret_in(t.said()), "") << t.said();
  }

  static inline std::unique_ptr<target> servers;
};

TEST_F(secrets, the_right_password_is_let_in_and_not_repeated) {
  talk t{right_uri()};
  EXPECT_TRUE(t.comes_up()) << t.said();
  EXPECT_TRUE(t.locks()) << t.said();
  EXPECT_EQ(secret_in(t.said()), "") << t.said();
}

TEST_F(secrets, a_wrong_password) {
  refused(servers->uri(target::login(user, "hunter2wrong"), query() + servers->sentinel_login(user, password)),
          said_of_a_wrong_password());
}

TEST_F(secrets, a_login_that_was_refused_was_waited_for_to_the_end) {
  using namespace std::chrono_literals;
  tyer::client c{servers->uri(target::login(user, "hunter2wrong"), query() + servers->sentinel_login(user, password))};
  const auto begin = std::chrono::steady_clock::now();
  tyer::failure why;
  EXPECT_FALSE(c.wait_ready(why, 1h));
  EXPECT_EQ(why.code, tyer::errc::refused) << why.message();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST_F(secrets, a_wrong_user) {
  refused(servers->uri(target::login(user + "x", password), query() + servers->sentinel_login(user, password)));
}

TEST_F(secrets, no_password_at_all) { refused(servers->uri("", query())); }

TEST_F(secrets, a_wrong_password_for_the_sentinels) {
  if (!servers->has_sentinels()) GTEST_SKIP() << "no sentinels here";
  refused(servers->uri(target::login(user, password), query() + servers->sentinel_login(user, sentinel_password)),
          "WRONGPASS");
}

// The server's own words name the user that it refuses; the password is in none.
TEST_F(secrets, a_user_who_may_not_lock) {
  if (!asked_of_redis()) GTEST_SKIP() << other_users_elsewhere;
  talk t{servers->uri(target::login("limited", "hunter2limited"), query() + servers->sentinel_login(user, password))};
  EXPECT_FALSE(t.locks());
  EXPECT_TRUE(t.says("NOPERM")) << t.said();
  EXPECT_EQ(secret_in(t.said()), "") << t.said();
}

TEST_F(secrets, a_user_who_may_not_look_is_told_so_by_an_observation) {
  if (!asked_of_redis()) GTEST_SKIP() << other_users_elsewhere;
  using namespace std::chrono_literals;
  const tyer::client c{
      servers->uri(target::login("other", "hunter2other"), query() + servers->sentinel_login(user, password))};
  std::promise<tyer::failure> refused;
  std::atomic<int> refusals{0}, changes{0};
  const auto looking_on =
      tyer::election{c, "leader"}.observe([&](const auto&) { ++changes; },
                                          [&](const tyer::failure& f) {  // before that it may not be connected yet
                                            if (f.code == tyer::errc::refused && refusals++ == 0) refused.set_value(f);
                                          });
  auto told = refused.get_future();
  ASSERT_EQ(told.wait_for(30s), std::future_status::ready);
  const auto why = told.get();
  EXPECT_NE(why.message().find("NOPERM"), std::string::npos) << why.message();
  EXPECT_EQ(secret_in(why.message()), "");
  EXPECT_EQ(changes, 0) << "an error is not an empty office";
}

TEST_F(secrets, a_user_of_another_prefix_cannot_touch_these_locks) {
  if (!asked_of_redis()) GTEST_SKIP() << other_users_elsewhere;
  const auto as_other = target::login("other", "hunter2other");
  const auto with = query() + servers->sentinel_login(user, password);
  talk own{servers->uri(as_other, with + "&prefix=other:")};
  EXPECT_TRUE(own.comes_up() && own.locks()) << own.said();
  talk ours{servers->uri(as_other, with)};
  EXPECT_FALSE(ours.locks());
  EXPECT_TRUE(ours.says("NOPERM")) << ours.said();
  EXPECT_EQ(secret_in(ours.said()), "") << ours.said();
}

TEST_F(secrets, tls_that_fails) {
  refused(servers->uri(target::login(user, password), servers->sentinel_login(user, password)));
  refused(right_uri("127.1"));
}

TEST_F(secrets, a_server_that_cannot_be_reached) {
  refused(servers->scheme() + "://" + target::login(user, password) + servers->dead_hosts() + servers->path() + "?" +
          query() + servers->sentinel_login(user, sentinel_password));
}

TEST_F(secrets, a_host_that_there_is_not) { refused(right_uri("nowhere.invalid")); }

TEST_F(secrets, servers_that_go_away) {
  target own{"--user '" + user + "' --password '" + password + "'"};
  talk t{
      own.uri(target::login(user, password), own.sentinel_login(user, password).substr(own.has_sentinels() ? 1 : 0))};
  EXPECT_TRUE(t.comes_up() && t.locks()) << t.said();
  own.kill();
  EXPECT_TRUE(t.says(said_of_those_away())) << t.said();
  EXPECT_EQ(secret_in(t.said()), "") << t.said();
}

// Everything that can be written wrong in a URI, and the password at every place where it could be.
TEST_F(secrets, a_uri_that_cannot_be_understood) {
  const auto scheme = servers->scheme() + "://";
  const auto hosts = servers->dead_hosts(), path = servers->path();
  const auto good = user + ":hunter2@" + hosts + path;
  for (const auto& rest : {
           user + ":hunter2@,",  // no host
           user + ":hunter2@" + hosts + "x" + path,
           good + (asked_of_zookeeper() ? "/hunter2//x" : "/hunter2"),  // no database, no place for nodes
           good + "?tombstone_ttl=hunter2",
           good + "?waiters_max=hunter2",
           good + "?in_flight_max=hunter2",
           good + "?verify=hunter2",
           good + "?cert=hunter2",  // and no key
           good + "?replicas=hunter2",
           good + "?unknown=hunter2",
           good + "?x=%hunter2",
           user + "@" + hosts + path,  // no password
           user + ":%hunter2@" + hosts + path,
           user + ":1/hunter2@" + hosts + path,
           user + ":1?hunter2@" + hosts + path,
           user + ":1?hunter2=1@" + hosts + path,
           user + ":1#hunter2@" + hosts + path,
           user + ":a/hunter2@" + hosts + path,
           user + ":hunter2/1@" + hosts + path,
       }) {
    EXPECT_THROW(tyer::client{scheme + rest}, tyer::error) << rest;
    refused(scheme + rest);
  }
}

}  // namespace
}  // namespace security
