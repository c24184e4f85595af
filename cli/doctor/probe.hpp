// What answers at a port, found out by asking it: for an engine that cannot be reached.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace cli::doctor {

struct server {
  std::string host, port;

  std::string text() const;  // "[::1]:6379"
};

// Of "rediss://a:1,b:2": where the client would go. None where the address has no ports.
std::vector<server> servers_in(std::string_view address);

enum class speech {
  unknown_host,
  nobody,       // the connection was refused
  unreachable,  // or nothing came back
  silent,       // it takes connections, and answers nothing
  redis,        // in plain text
  http,         // in plain text, as etcd does
  tls,
  other,
};

struct sighting {
  speech what = speech::unreachable;
  std::string words;  // the system's or, of another protocol, its own
};

// Asks as a client of Redis, of TLS and of HTTP would, in this order, until it is answered: nothing that changes anything. Takes
// at most that long.
sighting look_at(const server& where, std::chrono::milliseconds at_most);

}  // namespace cli::doctor
