// TLS as rediss:// wants it: 1.2 or newer, the server's certificate and name checked.
#pragma once

#include "engines/redis/config.hpp"

#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace tyer::redis::tls {

struct context_free {
  void operator()(SSL_CTX* c) const noexcept { SSL_CTX_free(c); }
};
using context = std::unique_ptr<SSL_CTX, context_free>;

struct made_context {
  context value;
  std::string words;  // what is wrong with a file, if something is
};

// Reads the files that the URI names. Without TLS a bare context, which is cheap.
made_context make_context(const config&);

// Before the handshake: whom we expect there.
void expect(SSL*, const config&);

// After a failed handshake: why, and what to do.
std::string explain(SSL*, const config&, const std::string& error);

// What to do about an error of OpenSSL that the server's alert has caused; empty if nothing is known.
std::string advice(const config&, unsigned long error);

}  // namespace tyer::redis::tls
