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

}  // namespace

std::string describe(const grant& g) {
  return "name " + std::to_string(g.name) + mode_of(g) + " token " + std::to_string(g.token) + " pid " +
         std::to_string(g.pid) + " worker " + std::to_string(g.worker) + " [" + seconds(g.invoked) + " invoked, " +
         seconds(g.returned) + " returned, " +
         (g.release_invoked == never ? std::string{"no"} : seconds(g.release_invoked)) + " release, " +
         seconds(g.deadline) + " valid until]";
}

}  // namespace fault
