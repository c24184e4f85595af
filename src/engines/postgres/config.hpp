// What a URI of PostgreSQL says.
//
//   postgres[ql]://[user[:password]@]host[:port][,host[:port]…]/[database]
//     ?sslmode=…, ?sslrootcert=…, ?sslcert=…, ?sslkey=…   as libpq has them; the default is verify-full, and on this host prefer
//     ?application_name=…                                 (tyer)
//     ?schema=apply                                       makes the tables if there are none
//     ?waiters_max=N                                      waiters per name (10000)
#pragma once

#include "core/uri.hpp"
#include "engines/postgres/wire.hpp"

#include <tyer/error.hpp>

#include <cstdint>
#include <vector>

namespace tyer::postgres {

struct config {
  std::vector<core::endpoint> hosts;
  options connect;
  std::uint32_t waiters_max = 10'000;
  bool make_tables = false;
};

struct read_config {
  config value;
  tyer::failure error;
};

// Takes what it knows out of the URI's query.
read_config read(core::uri&);

}  // namespace tyer::postgres
