// What is said to MySQL and MariaDB.
#pragma once

#include "engines/sql/dialect.hpp"

namespace tyer::mysql {

extern const sql::tongue own_tongue;

// A release is answered, and whoever has asked for it may be gone, before the bell is rung.
std::vector<const char*> said_behind_an_answer();

}  // namespace tyer::mysql
