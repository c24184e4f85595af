// What a URI of etcd says.
//
//   etcd[s]://[user:password@]host[:port],host[:port]…
//     ?waiters_max=N           waiters per name (10000)
//   only with TLS
//     ?ca=FILE                 certificates of the authorities to trust, PEM (default: the system's)
//     ?cert=FILE&key=FILE      the client's own certificate, PEM
//     ?verify=none             do not check who the server is
#pragma once

#include "core/uri.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tyer::etcd {

struct config {
  std::vector<core::endpoint> servers;
  std::string user, password;
  std::uint32_t waiters_max = 10'000;

  bool tls = false;
  bool verify = true;
  std::string ca_file, cert_file, key_file;
  std::string ca, cert, key;  // what the files hold
};

struct read_config {
  config value;
  tyer::failure error;
};

// Takes what it knows out of the URI's query, and reads the files it names.
read_config read(core::uri&);

// With what the files hold now: certificates are exchanged while clients run. A file that cannot be read at the moment counts as
// it was.
config with_files_of_now(config);

}  // namespace tyer::etcd
