// Wraps text into lines.
#pragma once

#include <string>
#include <string_view>

namespace cli {

// As many words per line as fit; all lines but the first are indented by `indent`. The first line begins at `column`.
std::string wrapped(std::string_view text, int width, int indent, int column);

}  // namespace cli
