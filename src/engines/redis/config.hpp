// The options of a Redis or Valkey URI.
//
//   redis[s]://[user][:password]@host[:port][/database]
//   redis[s]+sentinel://[user][:password]@sentinel[:port],sentinel[:port]/master[/database]
//     ?sentinel_user=&sentinel_password=   for the sentinels themselves
//   redis[s]+cluster://[user][:password]@node[:port],node[:port]
//   any of them
//     ?tombstone_ttl=SECONDS   how long the last token of a free lock is remembered (600)
//     ?waiters_max=N           waiters per name (100000)
//     ?in_flight_max=N         requests in flight, without renewals and releases (65536)
//     ?protocol=redisson       another engine, which reads the rest: redisson/redisson.hpp
//     ?replicas=K              only what K replicas have confirmed counts as granted or renewed (0)
//   only with TLS
//     ?ca=FILE                 certificates of the authorities to trust, PEM (default: the system's)
//     ?cert=FILE&key=FILE      the client's own certificate, PEM
//     ?verify=none             do not check who the server is
#pragma once

#include "core/uri.hpp"
#include "engines/kit/options.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tyer::redis {

enum class shape : std::uint8_t { one_server, sentinel, cluster };

struct config : kit::tls_options {
  core::endpoint server;
  std::string user, password;
  int database = 0;

  std::chrono::milliseconds tombstone_ttl{std::chrono::minutes{10}};
  std::uint32_t waiters_max = 100'000;
  std::uint32_t in_flight_max = 65'536;

  std::uint32_t replicas = 0;  // that must confirm

  shape deployment = shape::one_server;
  std::vector<core::endpoint> seeds;  // the sentinels, or nodes of the cluster
  std::string master;                 // its name at the sentinels
  std::string sentinel_user, sentinel_password;

  bool tls = false;  // else the TLS options are unused

  std::string shown;  // for messages: without secrets

  // The same for one server among several.
  config at(const core::endpoint&) const;
};

struct read_config {
  config value;
  failure error;
};

// Removes the options that it knows from the URI's query.
read_config read(core::uri&);

}  // namespace tyer::redis
