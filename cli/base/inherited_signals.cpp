#include "base/inherited_signals.hpp"

#include <array>
#include <csignal>

namespace cli {

namespace {

struct own_signal {
  int number;
  bool was_ignored = false;
};
std::array<own_signal, 2> own_signals{{{SIGPIPE}, {SIGCHLD}}};

}  // namespace

void take_signals_over() {
  for (auto& s : own_signals) s.was_ignored = std::signal(s.number, SIG_DFL) == SIG_IGN;
}

void hand_signals_on() {
  for (const auto& s : own_signals) std::signal(s.number, s.was_ignored ? SIG_IGN : SIG_DFL);
}

}  // namespace cli
