// Where a command writes: a terminal or a pipe.
#pragma once

#include <string>
#include <string_view>

namespace cli {

enum class tone { plain, bold, faint, good, warning, bad };

class terminal {
 public:
  // auto: colours on a terminal, unless NO_COLOR is set or TERM is dumb.
  explicit terminal(std::string_view colour = "auto");

  bool out_is_terminal() const noexcept { return out_; }
  bool err_is_terminal() const noexcept { return err_; }
  bool in_is_terminal() const noexcept { return in_; }

  // Whether the cursor may be moved there: not in a pipe, nor if TERM is dumb or missing.
  bool out_is_redrawn() const noexcept { return out_ && moves_; }
  bool err_is_redrawn() const noexcept { return err_ && moves_; }

  // Whether this process may write to the terminal now: false for a background job.
  bool err_is_ours() const;

  // The current width of the terminal; 80 without one.
  int width() const;
  int height() const;

  // The text in that colour, or unchanged without colours.
  std::string in(tone t, std::string_view text) const;

 private:
  bool out_, err_, in_, moves_, colours_;
  int group_;  // the process group that the shell started: the keeper is in another one
};

// Asks on the terminal; anything but y or yes is no.
bool confirmed(const std::string& question);

}  // namespace cli
