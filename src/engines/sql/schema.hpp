// The tables, of whichever dialect.
#pragma once

namespace tyer::sql {

inline constexpr int schema_version = 1;

}  // namespace tyer::sql
