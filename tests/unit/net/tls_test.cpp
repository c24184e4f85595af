#include "engines/net/tls.hpp"

#include <gtest/gtest.h>
#include <openssl/x509_vfy.h>

#include <memory>
#include <string>

namespace tyer::net::tls {
namespace {

std::string words_about(long verdict) {
  const auto all = new_context();
  const std::unique_ptr<SSL, decltype(&SSL_free)> one{SSL_new(all.get()), &SSL_free};
  SSL_set_verify_result(one.get(), verdict);
  return explain(one.get(), {.host = "locks.example"}, "");
}

TEST(tls_words, a_certificate_that_is_over_was_told_as_one_of_an_unknown_authority) {
  for (const long verdict : {X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID}) {
    const auto words = words_about(verdict);
    EXPECT_NE(words.find("; renew it at the server, or correct the clock of this machine"), std::string::npos) << words;
    EXPECT_EQ(words.find("?ca="), std::string::npos) << words;
  }
  EXPECT_NE(words_about(X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN).find("?ca=FILE"), std::string::npos);
  EXPECT_NE(words_about(X509_V_ERR_HOSTNAME_MISMATCH).find("not made for locks.example"), std::string::npos);
}

}  // namespace
}  // namespace tyer::net::tls
