#include "engines/redis/tls.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>

namespace tyer::redis::tls {

namespace {

bool is_address(const std::string& host) {
  unsigned char bytes[16];
  return ::inet_pton(AF_INET, host.c_str(), bytes) == 1 || ::inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

std::string last_error() {
  const auto code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return reason != nullptr ? reason : "no reason given";
}

std::string load_files(SSL_CTX* c, const config& cfg) {
  if (!cfg.ca.empty()) {
    if (SSL_CTX_load_verify_locations(c, cfg.ca.c_str(), nullptr) != 1) {
      return "?ca=" + cfg.ca + " cannot be read as PEM certificates: " + last_error();
    }
  } else if (cfg.verify) {
    SSL_CTX_set_default_verify_paths(c);
  }
  if (cfg.cert.empty()) return {};
  if (SSL_CTX_use_certificate_chain_file(c, cfg.cert.c_str()) != 1) {
    return "?cert=" + cfg.cert + " cannot be read as a PEM certificate: " + last_error();
  }
  if (SSL_CTX_use_PrivateKey_file(c, cfg.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return "?key=" + cfg.key + " cannot be read as the PEM key of ?cert=: " + last_error();
  }
  return {};
}

}  // namespace

made_context make_context(const config& cfg) {
  ERR_clear_error();
  made_context made{context{SSL_CTX_new(TLS_client_method())}, {}};
  if (!made.value) {
    made.words = "OpenSSL cannot make a TLS context: " + last_error();
    return made;
  }
  SSL_CTX_set_min_proto_version(made.value.get(), TLS1_2_VERSION);
  if (cfg.tls) made.words = load_files(made.value.get(), cfg);
  return made;
}

void expect(SSL* ssl, const config& cfg) {
  const std::string& host = cfg.server.host;
  if (!is_address(host)) SSL_set_tlsext_host_name(ssl, host.c_str());  // SNI is for names only
  if (!cfg.verify) {
    SSL_set_verify(ssl, SSL_VERIFY_NONE, nullptr);
    return;
  }
  SSL_set_verify(ssl, SSL_VERIFY_PEER, nullptr);
  X509_VERIFY_PARAM* param = SSL_get0_param(ssl);
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (is_address(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(param, host.c_str());
  } else {
    X509_VERIFY_PARAM_set1_host(param, host.data(), host.size());
  }
}

std::string explain(SSL* ssl, const config& cfg, const std::string& error) {
  const long verdict = SSL_get_verify_result(ssl);
  if (!cfg.verify || verdict == X509_V_OK) return "the TLS handshake failed: " + error;
  std::string words = "the server's certificate was not accepted: ";
  words += X509_verify_cert_error_string(verdict);
  if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH) {
    return words + "; it is not made for " + cfg.server.host + ", which the URI names";
  }
  return words + "; name the authority that signed it with ?ca=FILE";
}

std::string advice(const config& cfg, unsigned long error) {
  switch (ERR_GET_REASON(error)) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:  // as TLS 1.2 has it; there may be other reasons
      return cfg.cert.empty() ? "; if the server wants a certificate of its clients, give one with ?cert=FILE&key=FILE"
                              : "";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
      return cfg.cert.empty() ? "" : "; the server does not accept the certificate of ?cert=";
    default: return {};
  }
}

}  // namespace tyer::redis::tls
