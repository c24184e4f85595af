// SHA-1, because Redis names scripts by it.
#pragma once

#include <string>
#include <string_view>

namespace fault {

std::string sha1_hex(std::string_view text);

}  // namespace fault
