#include "engines/net/tls.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>

#include <system_error>

namespace tyer::net::tls {

namespace {

bool is_address(const std::string& host) {
  unsigned char bytes[16];
  return ::inet_pton(AF_INET, host.c_str(), bytes) == 1 || ::inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

}  // namespace

// What came first is the cause: what came last of a file that is not there, says "system lib".
std::string last_error() {
  const auto code = ERR_peek_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return reason != nullptr ? reason : "no reason given";
}

context new_context() {
  ERR_clear_error();
  context c{SSL_CTX_new(TLS_client_method())};
  if (c) SSL_CTX_set_min_proto_version(c.get(), TLS1_2_VERSION);
  return c;
}

void expect(SSL* ssl, const terms& t) {
  if (!is_address(t.host)) SSL_set_tlsext_host_name(ssl, t.host.c_str());  // SNI is for names only
  if (!t.verify) {
    SSL_set_verify(ssl, SSL_VERIFY_NONE, nullptr);
    return;
  }
  SSL_set_verify(ssl, SSL_VERIFY_PEER, nullptr);
  X509_VERIFY_PARAM* param = SSL_get0_param(ssl);
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (is_address(t.host)) {
    X509_VERIFY_PARAM_set1_ip_asc(param, t.host.c_str());
  } else {
    X509_VERIFY_PARAM_set1_host(param, t.host.data(), t.host.size());
  }
}

std::string explain(SSL* ssl, const terms& t, const std::string& error) {
  const long verdict = SSL_get_verify_result(ssl);
  if (!t.verify || verdict == X509_V_OK) return "the TLS handshake failed: " + error;
  std::string words = "the server's certificate was not accepted: ";
  words += X509_verify_cert_error_string(verdict);
  switch (verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return words + "; it is not made for " + t.host + ", which the URI names: use a name that is in it";
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID: return words + "; renew it at the server, or correct the clock of this machine";
    default: return words + "; name the authority that signed it with ?ca=FILE";
  }
}

std::string advice(const terms& t, unsigned long error) {
  constexpr auto not_accepted = "; the server does not accept the certificate of ?cert=";
  switch (ERR_GET_REASON(error)) {
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:  // also of none, if the server is in Java
      if (t.own_certificate) return not_accepted;
      [[fallthrough]];
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:  // as TLS 1.2 has it; there may be other reasons
      return t.own_certificate
                 ? ""
                 : "; if the server wants a certificate of its clients, give one with ?cert=FILE&key=FILE";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN: return t.own_certificate ? not_accepted : "";
    default: return {};
  }
}

}  // namespace tyer::net::tls
