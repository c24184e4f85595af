#include "text/wrap.hpp"

#include "text/plain.hpp"

#include <sstream>

namespace cli {

std::string wrapped(std::string_view text, int width, int indent, int column) {
  std::istringstream words{std::string{text}};
  std::string out, word;
  for (bool first = true; words >> word; first = false) {
    const int length = columns(word);
    if (!first && column + 1 + length > width) {
      out += '\n' + std::string(static_cast<std::size_t>(indent), ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += length;
  }
  return out;
}

}  // namespace cli
