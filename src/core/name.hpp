// Names of locks: any bytes, 1 to 1024 of them.
#pragma once

#include <tyer/error.hpp>
#include <tyer/export.hpp>

#include <string>
#include <string_view>

namespace tyer::core {

inline constexpr std::size_t name_bytes_max = 1024;

TYER_EXPORT failure check_name(std::string_view name);

// For messages and listings: printable ASCII stays, everything else becomes \xNN.
TYER_EXPORT std::string printable(std::string_view bytes);
// The same for a name in a sentence, in quotation marks: one inside becomes \x22.
TYER_EXPORT std::string quoted(std::string_view name);

}  // namespace tyer::core
