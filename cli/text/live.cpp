#include "text/live.hpp"

#include <iostream>
#include <string_view>

namespace cli {

live_screen::live_screen() { std::cout << "\x1b[?1049h\x1b[?25l" << std::flush; }
live_screen::~live_screen() { std::cout << "\x1b[?25h\x1b[?1049l" << std::flush; }

// Overwrites line by line, and clears each to its end: clearing the whole screen would flicker.
void live_screen::draw(const std::string& text, int lines_max) const {
  std::string out = "\x1b[H";
  std::string_view rest = text;
  for (int line = 1; line < lines_max && !rest.empty(); ++line) {
    const auto end = rest.find('\n');
    out += std::string{rest.substr(0, end)} + "\x1b[K\r\n";
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
  }
  std::cout << out << (rest.empty() ? "" : "…") << "\x1b[J" << std::flush;
}

}  // namespace cli
