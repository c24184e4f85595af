// What is said to PostgreSQL.
#pragma once

#include "engines/sql/dialect.hpp"

namespace tyer::postgres {

extern const sql::tongue own_tongue;

}  // namespace tyer::postgres
