#include "checker/checks.hpp"

#include <algorithm>
#include <map>

namespace fault {

namespace {

using grants = std::vector<const grant*>;

// Among grants that all conflict with each other, but for readers with readers.
void check_order(const grants& all, std::vector<breach>& found) {
  grants by_invoke = all, by_return = all;
  std::sort(by_invoke.begin(), by_invoke.end(), [](auto a, auto b) { return a->invoked < b->invoked; });
  std::sort(by_return.begin(), by_return.end(), [](auto a, auto b) { return a->returned < b->returned; });

  // Among those that had returned before the one we look at was invoked.
  const grant *largest = nullptr, *largest_of_writers = nullptr;
  const auto raise = [](const grant*& top, const grant* g) {
    if (!top || g->token > top->token) top = g;
  };
  auto returned = by_return.begin();
  for (const grant* g : by_invoke) {
    for (; returned != by_return.end() && (*returned)->returned < g->invoked; ++returned) {
      raise(largest, *returned);
      if ((*returned)->how != mode::shared) raise(largest_of_writers, *returned);
    }
    const grant* before = g->how == mode::shared ? largest_of_writers : largest;
    if (before && g->token <= before->token) {
      found.push_back({g->returned, describe(*g) + " came after " + describe(*before)});
    }
  }
}

void check_unique(grants all, std::vector<breach>& found) {
  std::sort(all.begin(), all.end(), [](auto a, auto b) { return a->token < b->token; });
  for (std::size_t i = 1; i < all.size(); ++i) {
    const grant &a = *all[i - 1], &b = *all[i];
    // One after the other is already a breach of the order; here only those that ran side by side.
    const bool apart = a.returned < b.invoked || b.returned < a.invoked;
    if (a.token == b.token && conflict(a, b) && !apart) {
      found.push_back({b.returned, describe(a) + " has the token of " + describe(b)});
    }
  }
}

// A hold keeps its token for as long as it keeps its mode, however often its owner comes in again.
void check_constant(const grant& g, std::vector<breach>& found) {
  for (const look& k : g.looks) {
    if (k.token == 0 || k.token == g.token) continue;
    found.push_back({k.at, "token " + std::to_string(k.token) + " was seen on " + describe(g)});
    return;
  }
}

}  // namespace

std::vector<breach> token_order(const story& s) {
  // Slots of permits are things of their own.
  std::map<std::pair<std::uint16_t, int>, grants> by_thing;
  for (const grant& g : s.grants) {
    if (g.how != mode::permit) by_thing[{g.name, -1}].push_back(&g);
    for (int slot = 0; g.how == mode::permit && slot < 16; ++slot) {
      if ((g.slots >> slot & 1) != 0) by_thing[{g.name, slot}].push_back(&g);
    }
  }
  std::vector<breach> found;
  for (const auto& [thing, all] : by_thing) {
    check_order(all, found);
    check_unique(all, found);
  }
  for (const grant& g : s.grants) check_constant(g, found);
  return found;
}

}  // namespace fault
