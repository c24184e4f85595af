// What a shell completes, from the same pages as --help.
#pragma once

#include "help/page.hpp"

#include <string>

namespace cli {

std::string bash_completions(const manual& m);
std::string zsh_completions(const manual& m);
std::string fish_completions(const manual& m);

}  // namespace cli
