// The parts of `tools/bench sql`. Each measures Tyer through its public API only.
#pragma once

#include "sql/database.hpp"

#include <string>

namespace bench {

// Statements of a lock and an unlock, one caller.
double measure_statements(const std::string& uri, database&, milliseconds run);

// Statements a second while so many processes, this program's, wait for one name.
double measure_idle_waiters(const std::string& uri, database&, int processes, milliseconds run);
int wait_until_killed(const std::string& uri);  // one of them

// Statements to renew once so many holds of one client.
double measure_renewal(const std::string& uri, database&, int holds, milliseconds ttl);

// Connections of a client that holds so many names and waits for as many.
int measure_connections(const std::string& uri, database&, int names);

}  // namespace bench
