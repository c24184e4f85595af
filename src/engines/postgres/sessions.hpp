// How PostgreSQL locks by sessions: pg_advisory_lock.
#pragma once

#include "engines/sql/session_tongue.hpp"

namespace tyer::postgres {

extern const sql::session_tongue own_sessions;

}  // namespace tyer::postgres
