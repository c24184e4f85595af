// Where a command writes: a person's terminal, or a pipe.
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

  // Whether what is written to stderr now disturbs nobody else at that terminal: false for a job in the background.
  bool err_is_ours() const;

  // Of the terminal as it is now; 80 where there is none.
  int width() const;
  int height() const;

  // The text in that tone, or as it is where there are no colours.
  std::string in(tone t, std::string_view text) const;

 private:
  bool out_, err_, in_, colours_;
  int group_;  // which the shell started: what keeps a lock is in one of its own
};

// Asks on the terminal; anything but y or yes is no.
bool confirmed(const std::string& question);

}  // namespace cli
