// A command line as everybody may see it: in one line, and without text that looks like a password.
#pragma once

#include <string>
#include <vector>

namespace cli {

std::string shown_command(const std::vector<std::string>& command);

}  // namespace cli
