// Text that is redrawn on the alternate screen of the terminal.
#pragma once

#include "base/signals.hpp"

#include <string>

namespace cli {

// One at a time. While it lives, the terminal has its normal screen back before a signal stops the process (Ctrl-Z) or dumps its
// core (Ctrl-\), and the bell is woken when it goes on or the size changes.
class live_screen {
 public:
  explicit live_screen(signals& bell);
  live_screen(const live_screen&) = delete;
  live_screen& operator=(const live_screen&) = delete;
  ~live_screen();  // restores the normal screen

  // As many lines as there is room for.
  void draw(const std::string& text, int lines_max) const;
};

}  // namespace cli
