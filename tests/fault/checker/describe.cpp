#include "checker/checks.hpp"

#include <cstdio>

namespace fault {

std::string seconds(std::int64_t ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6f", static_cast<double>(ns) / 1e9);
  return text;
}

std::string describe(const grant& g) {
  return "name " + std::to_string(g.name) + " token " + std::to_string(g.token) + " pid " + std::to_string(g.pid) +
         " worker " + std::to_string(g.worker) + " [" + seconds(g.invoked) + " invoked, " + seconds(g.returned) +
         " returned, " + (g.release_invoked == never ? std::string{"no"} : seconds(g.release_invoked)) + " release, " +
         seconds(g.deadline) + " valid until]";
}

}  // namespace fault
