#include "text/entries.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace cli {

std::vector<lock> by_name(entries all) {
  std::map<std::string, entries> found;
  std::set<std::pair<std::string, tyer::hold_id>> known;
  for (auto& e : all) {
    if (e.id && !known.emplace(e.name, e.id).second) continue;
    found[e.name].push_back(std::move(e));
  }
  std::vector<lock> sorted;
  for (auto& [name, of_it] : found) {
    std::ranges::stable_partition(of_it, [](const auto& e) { return !e.waiting; });
    sorted.push_back({name, std::move(of_it)});
  }
  return sorted;
}

}  // namespace cli
