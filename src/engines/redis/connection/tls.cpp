#include "engines/redis/connection/tls.hpp"

namespace tyer::redis::tls {

namespace {

using net::tls::last_error;

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
  made_context made{net::tls::new_context(), {}};
  if (!made.value) {
    made.words = "OpenSSL cannot make a TLS context: " + last_error();
    return made;
  }
  if (cfg.tls) made.words = load_files(made.value.get(), cfg);
  return made;
}

net::tls::terms terms(const config& cfg) { return {cfg.server.host, cfg.verify, !cfg.cert.empty()}; }

}  // namespace tyer::redis::tls
