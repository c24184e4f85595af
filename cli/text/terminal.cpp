#include "text/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace cli {

namespace {

// A terminal that knows what an escape sequence is.
bool understands_sequences() {
  const char* term = std::getenv("TERM");
  return term != nullptr && *term != '\0' && std::string_view{term} != "dumb";
}

bool colours_wanted(std::string_view colour, bool out) {
  if (colour != "auto") return colour == "always";
  const char* no = std::getenv("NO_COLOR");
  return out && (no == nullptr || *no == '\0') && understands_sequences();
}

std::string_view code_of(tone t) {
  switch (t) {
    case tone::plain: break;
    case tone::bold: return "\x1b[1m";
    case tone::faint: return "\x1b[2m";
    case tone::good: return "\x1b[32m";
    case tone::warning: return "\x1b[33m";
    case tone::bad: return "\x1b[31m";
  }
  return {};
}

winsize size_of_terminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) size = {};
  return size;
}

}  // namespace

terminal::terminal(std::string_view colour)
    : out_(::isatty(STDOUT_FILENO) == 1),
      err_(::isatty(STDERR_FILENO) == 1),
      in_(::isatty(STDIN_FILENO) == 1),
      moves_(understands_sequences()),
      colours_(colours_wanted(colour, out_)),
      group_(::getpgrp()) {}

bool terminal::err_is_ours() const {
  if (!err_) return false;
  const pid_t in_front = ::tcgetpgrp(STDERR_FILENO);
  return in_front < 0 || in_front == group_;  // not our controlling terminal: no job control
}

int terminal::width() const {
  const int w = out_ ? size_of_terminal().ws_col : 0;
  return w > 0 ? std::clamp(w, 40, 240) : 80;
}

int terminal::height() const {
  const int h = out_ ? size_of_terminal().ws_row : 0;
  return h > 0 ? std::max(h, 4) : 24;
}

std::string terminal::in(tone t, std::string_view text) const {
  if (!colours_ || t == tone::plain || text.empty()) return std::string{text};
  return std::string{code_of(t)} + std::string{text} + "\x1b[0m";
}

bool confirmed(const std::string& question) {
  std::cerr << question << " [y/N] " << std::flush;
  std::string answer;
  if (!std::getline(std::cin, answer)) {
    std::cerr << '\n';
    return false;
  }
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace cli
