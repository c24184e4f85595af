#include "text/live.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <string_view>

namespace cli {

namespace {

constexpr std::string_view enter = "\x1b[?1049h\x1b[?25l", leave = "\x1b[?25h\x1b[?1049l";

// Globals, for the signal handlers.
signals* bell_of_screen = nullptr;
struct handled {
  int number;
  void (*handler)(int);
  struct sigaction before{};
};

void put(std::string_view sequence) noexcept {
  static_cast<void>(!::write(STDOUT_FILENO, sequence.data(), sequence.size()));
}

void set_handler(int number, void (*handler)(int), struct sigaction* before = nullptr) noexcept {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | SA_NODEFER;  // raise() below takes effect at once
  ::sigaction(number, &action, before);
}

extern "C" void on_change(int) { bell_of_screen->wake(); }

extern "C" void on_leaving_signal(int number) {
  const int before = errno;
  put(leave);
  set_handler(number, SIG_DFL);
  ::raise(number);
  // Here it goes on again; after SIGQUIT it does not.
  set_handler(number, on_leaving_signal);
  put(enter);
  bell_of_screen->wake();
  errno = before;
}

std::array<handled, 3> handlers{{{SIGTSTP, on_leaving_signal}, {SIGQUIT, on_leaving_signal}, {SIGWINCH, on_change}}};

}  // namespace

live_screen::live_screen(signals& bell) {
  bell_of_screen = &bell;
  std::cout << enter << std::flush;
  for (auto& h : handlers) {
    set_handler(h.number, h.handler, &h.before);
    if (h.before.sa_handler == SIG_IGN) ::sigaction(h.number, &h.before, nullptr);  // a shell without job control
  }
}

live_screen::~live_screen() {
  for (const auto& h : handlers) ::sigaction(h.number, &h.before, nullptr);
  std::cout << leave << std::flush;
}

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
