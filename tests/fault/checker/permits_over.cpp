#include "checker/windows.hpp"

#include <bit>
#include <numeric>

namespace fault {

namespace {

// It says which slots it has: as many as it asked for, and such as there are.
bool slots_are_right(const grant& g) { return std::popcount(g.slots) == g.permits && g.slots < 1u << g.capacity; }

}  // namespace

std::vector<breach> permits_over(const story& s, const limits& l) {
  std::vector<breach> found;
  for (const grant& g : s.grants) {
    if (g.how == mode::permit && !slots_are_right(g)) found.push_back({g.returned, "wrong slots: " + describe(g)});
  }
  each_window(s, s.losses, l, [&](const grant& g, std::span<const grant* const> beside) {
    if (g.how != mode::permit) return;
    unsigned sum = g.permits;
    for (const grant* o : beside) {
      if (o->how == mode::permit) sum += o->permits;
      if (conflict(*o, g)) found.push_back(overlap_of(s, *o, g));
    }
    if (sum <= g.capacity) return;
    found.push_back({g.window_begin(), std::to_string(sum) + " of " + std::to_string(g.capacity) +
                                           " permits are taken with " + describe(g)});
  });
  return found;
}

}  // namespace fault
