// Durations as people write and read them.
#pragma once

#include "base/option.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace cli {

// "500ms", "30s", "1m30s", "2h", "1d"; only 0 needs no unit. Nothing for any other text.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// Adds an option with a duration, which reports wrong values.
option add_duration(CLI::App& app, const std::string& names, std::chrono::milliseconds& value,
                    const std::string& description);
option add_duration(CLI::App& app, const std::string& names, std::optional<std::chrono::milliseconds>& value,
                    const std::string& description);

// As one would type it: "500ms", "30s".
std::string typed(std::chrono::milliseconds d);
// For reading, two units at most: "340 ms", "2.0 s", "42 s", "4 m 20 s", "3 h 5 m", "2 d 4 h".
std::string shown(std::chrono::milliseconds d);
// "0.31 ms", "12.5 ms"
std::string shown_exactly(std::chrono::nanoseconds d);

}  // namespace cli
