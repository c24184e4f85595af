// What a URI of MySQL or MariaDB says, beside what that of every database does (sql/config.hpp).
//
//   mysql|mariadb://[user[:password]@]host[:port][,host[:port]…]/database
//     ?tls=on|off|prefer          on (the default): encrypted and verified; prefer (on this host): if the server offers it
//     ?ca=, ?cert=, ?key=         files; ?verify=none
#pragma once

#include "engines/mysql/wire.hpp"
#include "engines/sql/config.hpp"

namespace tyer::mysql {

// Takes what it knows out of the URI's query.
sql::read_config<options> read(core::uri&);

}  // namespace tyer::mysql
