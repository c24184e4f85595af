// Any bytes in the names of nodes, and back. Nothing for what nobody writes so.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tyer::zookeeper {

std::optional<std::string> from_hex(std::string_view);

// One node's name: letters, digits, - and _ as they are, the rest percent-encoded.
std::string escape(std::string_view);
std::optional<std::string> unescape(std::string_view);

// A path: as it is where servers take it; else percent-encoded, as is the percent sign itself.
std::string as_path(std::string_view name);
std::optional<std::string> from_path(std::string_view path);

}  // namespace tyer::zookeeper
