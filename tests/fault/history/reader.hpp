// Reads histories back.
#pragma once

#include "history/event.hpp"

#include <string>
#include <vector>

namespace fault {

// The finished lines of one file, in the order they were begun. Throws std::runtime_error if it is not a history.
std::vector<event> read_history(const std::string& path);

// Every *.hist in a folder, one vector per file.
std::vector<std::vector<event>> read_histories(const std::string& folder);

}  // namespace fault
