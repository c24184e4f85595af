// TLS, passwords and secrets of a database, whose client library, options and words are its own.
#include "contract/security/target.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace security {
namespace {

using namespace std::chrono_literals;

bool asked_of_postgres() { return std::string_view{std::getenv("TYER_KIND")} == "postgres"; }
std::string one_of(const char* postgres, const char* mysql) { return asked_of_postgres() ? postgres : mysql; }

const std::string as_user = "--user '" + user + "' --password '" + password + "'";
const std::string right = target::login(user, password), wrong = target::login(user, "hunter2wrong");

// One set of servers for all tests: none of them changes it.
class database : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    servers = std::make_unique<target>("--tls " + as_user + one_of(" --set listen_addresses=127.0.0.1,127.0.0.2", ""));
  }
  static void TearDownTestSuite() { servers.reset(); }

  static std::string authority(const std::string& file) {
    return one_of("sslmode=verify-full&sslrootcert=", "tls=on&ca=") + file;
  }
  static std::string ca() { return authority(servers->file("ca.crt")); }
  static std::string own(const char* name) {
    return one_of("&sslcert=", "&cert=") + servers->file(name) + ".crt" + one_of("&sslkey=", "&key=") +
           servers->file(name) + ".key";
  }
  static void expect_locks(const std::string& uri) {
    talk t{uri};
    EXPECT_TRUE(t.comes_up() && t.locks()) << t.said();
    EXPECT_EQ(secret_in(t.said()), "") << t.said();
  }
  // And none of all that is said is secret.
  static void expect_refused(const std::string& uri, const std::string& words) {
    talk t{uri, 2s};
    EXPECT_FALSE(t.ready());
    EXPECT_FALSE(t.locks());
    EXPECT_TRUE(t.says(words)) << t.said();
    EXPECT_GT(t.said().size(), 20U) << "and why?";
    EXPECT_EQ(secret_in(t.said()), "") << t.said();
  }

  static inline std::unique_ptr<target> servers;
};

TEST_F(database, with_the_right_authority_and_password_it_locks) { expect_locks(servers->uri(right, ca())); }

TEST_F(database, an_unknown_authority_is_refused) {
  expect_refused(servers->uri(right, one_of("sslmode=verify-full", "tls=on")),
                 one_of("root certificate file", "certificate verify failed"));
}

TEST_F(database, the_wrong_authority_is_refused) {
  expect_refused(servers->uri(right, authority(servers->file("client.crt"))), "certificate verify failed");
}

TEST_F(database, a_server_under_another_name_is_refused) {
  // Another way to write 127.0.0.1, so the server is found, and is asked for the name as it stands; but libpq knows it.
  expect_refused(servers->uri(right, ca(), one_of("127.0.0.2", "127.1")),
                 one_of("does not match host name", "certificate verify failed"));
}

TEST_F(database, a_file_that_is_not_there_is_named) {
  expect_refused(servers->uri(right, authority("/nowhere/ca.crt")), "/nowhere/ca.crt");
}

TEST_F(database, unchecked_only_when_asked_for_and_with_a_warning) {
  const auto unchecked = one_of("sslmode=require", "tls=on&verify=none");
  talk t{servers->uri(right, unchecked)};
  EXPECT_TRUE(t.comes_up() && t.locks()) << t.said();
  EXPECT_TRUE(t.says("anybody can pose as the server")) << t.said();
}

TEST_F(database, a_wrong_password_or_user_is_refused_without_its_name) {
  const auto words = one_of("password authentication failed", "Access denied");
  expect_refused(servers->uri(wrong, ca()), words);
  expect_refused(servers->uri(target::login(user + "x", password), ca()), words);
}

TEST_F(database, a_login_that_was_refused_was_waited_for_to_the_end) {
  tyer::client c{servers->uri(wrong, ca()), {.request_timeout = 60s, .unavailable_after = 10min}};
  const auto begin = std::chrono::steady_clock::now();
  tyer::failure why;
  EXPECT_FALSE(c.wait_ready(why, 1h));
  EXPECT_EQ(why.code, tyer::errc::refused) << why.message();
  tyer::mutex m{c, "x"};
  const std::vector<std::pair<const char*, std::function<void()>>> calls{
      {"acquire", [&] { static_cast<void>(m.acquire()); }},
      {"try_acquire", [&] { static_cast<void>(m.try_acquire()); }},
      {"try_acquire_for", [&] { static_cast<void>(m.try_acquire_for(10min)); }},
      {"try_lock", [&] { static_cast<void>(m.try_lock()); }}};
  for (const auto& [name, call] : calls) {
    try {
      call();
      ADD_FAILURE() << name << " said nothing";
    } catch (const tyer::error& e) {
      EXPECT_EQ(e.code(), tyer::errc::refused) << name << ": " << e.what();
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST_F(database, one_that_there_is_not_is_refused) {
  expect_refused(servers->scheme() + "://" + right + servers->hosts() + "/nowhere?" + ca(), "nowhere");
}

TEST_F(database, who_cannot_be_reached_or_found_is_told_without_secrets) {
  expect_refused(servers->scheme() + "://" + right + servers->dead_hosts() + servers->path() + "?" + ca(), "efused");
  expect_refused(servers->uri(right, ca(), "nowhere.invalid"), "nowhere.invalid");
}

TEST_F(database, a_uri_that_cannot_be_understood) {
  const auto scheme = servers->scheme() + "://";
  const auto hosts = servers->dead_hosts(), path = servers->path();
  const auto good = user + ":hunter2@" + hosts + path;
  for (const auto& rest : {
           user + ":hunter2@,",  // no host
           user + ":hunter2@" + hosts + "x" + path,
           good + "?waiters_max=hunter2",
           good + "?schema=hunter2",
           good + "?unknown=hunter2",
           good + "?x=%hunter2",
           user + ":%hunter2@" + hosts + path,
           user + ":1?hunter2=1@" + hosts + path,
           user + ":1#hunter2@" + hosts + path,
       }) {
    EXPECT_THROW(tyer::client{scheme + rest}, tyer::error) << rest;
    expect_refused(scheme + rest, "");
  }
}

TEST(database_login, a_server_that_was_started_anew_is_logged_in_to_again) {
  target servers{as_user};
  talk t{servers.uri(right, "")};
  ASSERT_TRUE(t.comes_up() && t.locks()) << t.said();
  servers.kill();
  servers.restart();
  EXPECT_TRUE(t.comes_up() && t.locks()) << t.said();
  EXPECT_EQ(secret_in(t.said()), "") << t.said();
}

// Servers that let nobody in without a certificate.
class database_with_certificates : public database {
 protected:
  static void SetUpTestSuite() { servers = std::make_unique<target>("--tls --set client-cert-auth=true " + as_user); }
};

TEST_F(database_with_certificates, with_one_it_locks) { expect_locks(servers->uri(right, ca() + own("client"))); }

TEST_F(database_with_certificates, without_one_it_is_refused) {
  expect_refused(servers->uri(right, ca()), one_of("client certificate", "Access denied"));
}

// Another authority, and other certificates of server and client in the same files.
TEST_F(database_with_certificates, exchanged_shut_out_every_client_that_had_read_the_old_ones) {
  talk t{servers->uri(right, ca() + own("client"))};
  ASSERT_TRUE(t.comes_up() && t.locks()) << t.said();
  servers->kill();
  servers->exchange_certificates();
  servers->restart();
  EXPECT_TRUE(t.comes_up()) << t.said();
  EXPECT_TRUE(t.locks()) << t.said();
}

}  // namespace
}  // namespace security
