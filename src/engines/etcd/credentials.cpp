#include "engines/etcd/credentials.hpp"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <vector>

namespace tyer::etcd {

namespace {

// Encrypted, to whoever is there.
std::shared_ptr<grpc::ChannelCredentials> to_anybody(const config& c) {
  namespace tls = grpc::experimental;
  tls::TlsChannelCredentialsOptions options;
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  options.set_certificate_verifier(std::make_shared<tls::NoOpCertificateVerifier>());
  if (!c.cert.empty()) {
    const std::vector<tls::IdentityKeyCertPair> own{{c.key, c.cert}};
    options.set_certificate_provider(std::make_shared<tls::StaticDataCertificateProvider>(own));
    options.watch_identity_key_cert_pairs();
  }
  return tls::TlsCredentials(options);
}

}  // namespace

std::shared_ptr<grpc::ChannelCredentials> credentials(const config& given) {
  if (!given.tls) return grpc::InsecureChannelCredentials();
  const config c = with_files_of_now(given);
  if (!c.verify) return to_anybody(c);
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = c.ca;
  options.pem_private_key = c.key;
  options.pem_cert_chain = c.cert;
  return grpc::SslCredentials(options);
}

}  // namespace tyer::etcd
