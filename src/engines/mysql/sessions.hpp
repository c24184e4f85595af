// How MySQL and MariaDB lock by sessions: GET_LOCK.
#pragma once

#include "engines/sql/session_tongue.hpp"

namespace tyer::mysql {

extern const sql::session_tongue own_sessions;

}  // namespace tyer::mysql
