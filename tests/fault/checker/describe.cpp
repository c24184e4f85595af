#include "checker/checks.hpp"

#include <cstdio>

namespace fault {

std::string seconds(std::int64_t ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6f", static_cast<double>(ns) / 1e9);
  return text;
}

namespace {

std::string mode_of(const grant& g) {
  if (g.how == mode::exclusive) return {};
  if (g.how == mode::shared) return " shared";
  std::string slots;
  for (int slot = 0; slot < 16; ++slot) {
    if ((g.slots >> slot & 1) != 0) slots += (slots.empty() ? "" : ",") + std::to_string(slot);
  }
  return " slots " + slots;
}

std::string from_to(std::int64_t begin, std::int64_t end) {
  return seconds(begin) + " to " + (end == never ? std::string{"the end"} : seconds(end));
}

}  // namespace

std::string describe(const grant& g) {
  return "name " + std::to_string(g.name) + mode_of(g) + " token " + std::to_string(g.token) + " pid " +
         std::to_string(g.pid) + " worker " + std::to_string(g.worker) + " [" + seconds(g.invoked) + " invoked, " +
         seconds(g.returned) + " returned, " +
         (g.release_invoked == never ? std::string{"no"} : seconds(g.release_invoked)) + " release, " +
         seconds(g.deadline) + " valid until]";
}

std::string done_to(const story& s, const grant& g) {
  const auto begin = g.invoked, end = std::max(g.returned, g.window_end());
  std::string words;
  const auto tell = [&](const std::string& what) { words += (words.empty() ? " (" : ", ") + what; };
  const auto tell_times = [&](const auto& by_pid, const char* what) {
    const auto found = by_pid.find(g.pid);
    if (found == by_pid.end()) return;
    for (const interval& t : found->second) {
      if (t.begin < end && t.end > begin) tell(what + from_to(t.begin, t.end));
    }
  };
  tell_times(s.stopped, "stopped from ");
  tell_times(s.starved, "starved from ");
  if (const auto killed = s.killed.find(g.pid); killed != s.killed.end() && killed->second < end) {
    tell("killed at " + seconds(killed->second));
  }
  for (const data_loss& loss : s.losses) {
    if (!loss.concerns(g) || loss.new_from >= end || loss.old_until <= begin) continue;
    tell((loss.pid != 0 ? "its data lost from " : "data lost from ") + from_to(loss.new_from, loss.old_until));
  }
  return words.empty() ? words : words + ')';
}

}  // namespace fault
