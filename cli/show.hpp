// How locks look on a terminal, for all commands that show some.
#pragma once

#include "text/entries.hpp"
#include "text/table.hpp"

#include <string>
#include <vector>

namespace cli {

// One line for each lock.
table locks_table(const std::vector<lock>& locks);

// Everything about one lock. `of_one_name` may be empty.
std::string lock_text(const std::string& name, const entries& of_one_name, const terminal& where);

}  // namespace cli
