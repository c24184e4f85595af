// TLS as every engine wants it: 1.2 or newer, the server's certificate and name checked.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace tyer::net::tls {

struct context_free {
  void operator()(SSL_CTX* c) const noexcept { SSL_CTX_free(c); }
};
using context = std::unique_ptr<SSL_CTX, context_free>;

// What the handshake must show.
struct terms {
  std::string host;  // as the URI names it: a name, or an address
  bool verify = true;
  bool own_certificate = false;  // we have one to show
};

context new_context();     // null without memory
std::string last_error();  // of OpenSSL, in its words; and forgets it

// Before the handshake: whom we expect there.
void expect(SSL*, const terms&);

// After a failed handshake: why, and what to do.
std::string explain(SSL*, const terms&, const std::string& error);

// What to do about an error of OpenSSL that the server's alert has caused; empty if nothing is known.
std::string advice(const terms&, unsigned long error);

}  // namespace tyer::net::tls
