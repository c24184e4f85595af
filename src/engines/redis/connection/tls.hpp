// TLS for rediss://: 1.2 or newer, with the server's certificate and name checked.
#pragma once

#include "engines/net/tls.hpp"
#include "engines/redis/config.hpp"

#include <string>

namespace tyer::redis::tls {

using net::tls::context;

struct made_context {
  context value;
  std::string words;  // what is wrong with a file, if something is
};

// Reads the files that the URI names. Without TLS a bare context, which is cheap.
made_context make_context(const config&);

// The identity that the server's certificate must have.
net::tls::terms terms(const config&);

}  // namespace tyer::redis::tls
