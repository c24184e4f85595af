// What a URI of MySQL or MariaDB says.
//
//   mysql|mariadb://[user[:password]@]host[:port][,host[:port]…]/database
//     ?tls=on|off|prefer          on (the default): encrypted and verified; prefer (on this host): if the server offers it
//     ?ca=, ?cert=, ?key=         files; ?verify=none
//     ?schema=apply               makes the tables if there are none
//     ?waiters_max=N              waiters per name (10000)
#pragma once

#include "core/uri.hpp"
#include "engines/mysql/wire.hpp"

#include <tyer/error.hpp>

#include <cstdint>

namespace tyer::mysql {

struct config {
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

}  // namespace tyer::mysql
