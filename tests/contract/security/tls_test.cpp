// TLS of each deployment: who the server is, is checked, and who may come in.
#include "contract/security/target.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

namespace security {
namespace {

// One set of servers for all tests: none of them changes it.
class tls : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { servers = std::make_unique<target>("--tls"); }
  static void TearDownTestSuite() { servers.reset(); }

  static std::string ca() { return "ca=" + servers->file("ca.crt"); }
  static void expect_refused(const std::string& uri, const std::string& words) {
    talk t{uri};
    EXPECT_FALSE(t.ready());
    // On a busy machine the first attempt may have taken too long to come to the point.
    EXPECT_TRUE(t.says(words)) << t.said();
  }

  static inline std::unique_ptr<target> servers;
};

TEST_F(tls, with_the_right_authority_it_locks) {
  talk t{servers->uri("", ca())};
  EXPECT_TRUE(t.comes_up()) << t.said();
  EXPECT_TRUE(t.locks()) << t.said();
}

TEST_F(tls, an_unknown_authority_is_refused_with_words_that_say_what_to_do) {
  expect_refused(servers->uri("", ""), "name the authority that signed it with ?ca=FILE");
}

TEST_F(tls, the_wrong_authority_is_refused) {
  expect_refused(servers->uri("", "ca=" + servers->file("client.crt")), "certificate was not accepted");
}

TEST_F(tls, a_server_under_another_name_is_refused) {
  // Another way to write 127.0.0.1, so the server is found, and is asked for the name as it stands.
  expect_refused(servers->uri("", ca(), "127.1"), "it is not made for 127.1");
}

TEST_F(tls, a_file_that_is_not_there_is_named) {
  expect_refused(servers->uri("", "ca=/nowhere/ca.crt"), "?ca=/nowhere/ca.crt cannot be read");
}

TEST_F(tls, unchecked_only_when_asked_for_and_with_a_warning) {
  talk t{servers->uri("", "verify=none")};
  EXPECT_TRUE(t.comes_up()) << t.said();
  EXPECT_TRUE(t.locks()) << t.said();
  EXPECT_NE(t.said().find("verify=none"), std::string::npos) << t.said();
}

// Servers that let nobody in without a certificate.
class mutual_tls : public tls {
 protected:
  static void SetUpTestSuite() { servers = std::make_unique<target>("--tls --set " + only_with_a_certificate()); }
  static std::string only_with_a_certificate() {
    if (asked_of_zookeeper()) return "ssl.clientAuth=need";
    return asked_of_redis() ? "tls-auth-clients=yes" : "client-cert-auth=true";
  }

  static std::string own(const char* name) {
    return "&cert=" + servers->file(name) + ".crt&key=" + servers->file(name) + ".key";
  }
};

TEST_F(mutual_tls, with_a_certificate_of_ones_own_it_locks) {
  talk t{servers->uri("", ca() + own("client"))};
  EXPECT_TRUE(t.comes_up()) << t.said();
  EXPECT_TRUE(t.locks()) << t.said();
}

TEST_F(mutual_tls, without_one_the_words_say_what_to_do) {
  expect_refused(servers->uri("", ca()), "give one with ?cert=FILE&key=FILE");
}

TEST_F(mutual_tls, one_that_the_server_does_not_know_is_refused) {
  // Signed by nobody but itself.
  const std::string made = servers->file("stranger");
  const auto line =
      "openssl req -x509 -subj /CN=stranger -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -keyout '" +
      made + ".key' -out '" + made + ".crt' 2>/dev/null";
  ASSERT_EQ(std::system(line.c_str()), 0);
  expect_refused(servers->uri("", ca() + own("stranger")), "does not accept the certificate of ?cert=");
}

TEST_F(mutual_tls, a_key_that_does_not_belong_to_the_certificate_is_named) {
  expect_refused(servers->uri("", ca() + "&cert=" + servers->file("client.crt") + "&key=" + servers->file("ca.key")),
                 "cannot be read as the PEM key of ?cert=");
}

// Another authority, and other certificates of server and client in the same files.
class exchanged_certificates : public mutual_tls {};

TEST_F(exchanged_certificates, shut_out_every_client_that_had_read_the_old_ones) {
  talk t{servers->uri("", ca() + own("client"))};
  ASSERT_TRUE(t.comes_up() && t.locks()) << t.said();
  servers->kill();
  ASSERT_TRUE(t.says(said_of_those_away())) << t.said();
  servers->exchange_certificates();
  servers->restart();
  EXPECT_TRUE(t.comes_up()) << t.said();
  EXPECT_TRUE(t.locks()) << t.said();
}

}  // namespace
}  // namespace security
