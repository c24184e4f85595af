// A picture on the terminal that is drawn again and again, on the terminal's other screen.
#pragma once

#include <string>

namespace cli {

class live_screen {
 public:
  live_screen();
  live_screen(const live_screen&) = delete;
  live_screen& operator=(const live_screen&) = delete;
  ~live_screen();  // gives the person's own screen back

  // As many lines as there is room for.
  void draw(const std::string& text, int lines_max) const;
};

}  // namespace cli
