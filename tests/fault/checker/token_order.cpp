#include "checker/checks.hpp"

#include <algorithm>
#include <map>

namespace fault {

namespace {

using grants = std::vector<const grant*>;

void check_order(const grants& of_name, std::vector<breach>& found) {
  grants by_invoke = of_name, by_return = of_name;
  std::sort(by_invoke.begin(), by_invoke.end(), [](auto a, auto b) { return a->invoked < b->invoked; });
  std::sort(by_return.begin(), by_return.end(), [](auto a, auto b) { return a->returned < b->returned; });

  const grant* largest = nullptr;  // among those that had returned before the one we look at was invoked
  auto returned = by_return.begin();
  for (const grant* g : by_invoke) {
    for (; returned != by_return.end() && (*returned)->returned < g->invoked; ++returned) {
      if (!largest || (*returned)->token > largest->token) largest = *returned;
    }
    if (largest && g->token <= largest->token) {
      found.push_back({g->returned, describe(*g) + " came after " + describe(*largest)});
    }
  }
}

void check_unique(grants of_name, std::vector<breach>& found) {
  std::sort(of_name.begin(), of_name.end(), [](auto a, auto b) { return a->token < b->token; });
  for (std::size_t i = 1; i < of_name.size(); ++i) {
    const grant &a = *of_name[i - 1], &b = *of_name[i];
    // One after the other is already a breach of the order; here only those that ran side by side.
    const bool apart = a.returned < b.invoked || b.returned < a.invoked;
    if (a.token == b.token && !apart) found.push_back({b.returned, describe(a) + " has the token of " + describe(b)});
  }
}

}  // namespace

std::vector<breach> token_order(const story& s) {
  std::map<std::uint16_t, grants> by_name;
  for (const grant& g : s.grants) by_name[g.name].push_back(&g);
  std::vector<breach> found;
  for (const auto& [name, of_name] : by_name) {
    check_order(of_name, found);
    check_unique(of_name, found);
  }
  return found;
}

}  // namespace fault
