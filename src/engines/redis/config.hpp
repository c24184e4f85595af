// What a redis:// or rediss:// URI says.
//
//   redis[s]://[user][:password]@host[:port][/database]
//     ?tombstone_ttl=SECONDS   how long the last token of a free lock is remembered (86400)
//     ?waiters_max=N           waiters per name (100000)
//     ?in_flight_max=N         requests in flight (65536)
//     ?protocol=redisson       another engine, which reads the rest: redisson/redisson.hpp
//   only rediss://
//     ?ca=FILE                 certificates of the authorities to trust, PEM (default: the system's)
//     ?cert=FILE&key=FILE      the client's own certificate, PEM
//     ?verify=none             do not check who the server is
#pragma once

#include "core/uri.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace tyer::redis {

struct config {
  core::endpoint server;
  std::string user, password;
  int database = 0;

  std::chrono::milliseconds tombstone_ttl{std::chrono::hours{24}};
  std::uint32_t waiters_max = 100'000;
  std::uint32_t in_flight_max = 65'536;

  bool tls = false;
  bool verify = true;
  std::string ca, cert, key;  // files

  std::string shown;  // for messages: without secrets
};

struct read_config {
  config value;
  failure error;
};

// Takes what it knows out of the URI's query.
read_config read(core::uri&);

}  // namespace tyer::redis
