// Text that is redrawn on the alternate screen of the terminal.
#pragma once

#include <string>

namespace cli {

class live_screen {
 public:
  live_screen();
  live_screen(const live_screen&) = delete;
  live_screen& operator=(const live_screen&) = delete;
  ~live_screen();  // restores the normal screen

  // As many lines as there is room for.
  void draw(const std::string& text, int lines_max) const;
};

}  // namespace cli
