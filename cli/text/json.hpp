// What --json prints: docs/schemas has a schema for each command.
#pragma once

#include "text/entries.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace cli {

using json = nlohmann::ordered_json;

// Bytes that are not UTF-8 are replaced, since JSON cannot contain them.
json text_json(std::string_view text);

// A name that is not UTF-8 is also given as bytes, to distinguish it from others.
void put_name(json& j, const std::string& name);

// "2026-11-15T21:00:00.123Z"
json time_json(std::chrono::system_clock::time_point t);

json entry_json(const tyer::lock_entry& e);
json lock_json(const lock& l);  // the lock in short: its holders, and how many wait

// One line.
void print(const json& j);

}  // namespace cli
