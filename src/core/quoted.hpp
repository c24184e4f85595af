// The name of a lock in a sentence.
#pragma once

#include "core/name.hpp"

#include <string>
#include <string_view>

namespace tyer::core {

inline std::string quoted(std::string_view name) { return '\'' + printable(name) + '\''; }

}  // namespace tyer::core
