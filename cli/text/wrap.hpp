// Text in lines.
#pragma once

#include <string>
#include <string_view>

namespace cli {

// Words as many as fit, each further line behind `indent` blanks. The first line begins at `column` already.
std::string wrapped(std::string_view text, int width, int indent, int column);

}  // namespace cli
