// What a URI of PostgreSQL says, beside what that of every database does (sql/config.hpp).
//
//   postgres[ql]://[user[:password]@]host[:port][,host[:port]…]/[database]
//     ?sslmode=…, ?sslrootcert=…, ?sslcert=…, ?sslkey=…   as libpq has them; the default is verify-full, and on this host prefer
//     ?application_name=…                                 (tyer)
#pragma once

#include "engines/postgres/wire.hpp"
#include "engines/sql/config.hpp"

namespace tyer::postgres {

// Takes what it knows out of the URI's query.
sql::read_config<options> read(core::uri&);

}  // namespace tyer::postgres
