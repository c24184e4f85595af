#include "engines/compose/redlock/merge.hpp"

#include "lease/terms.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace tyer::redlock {

using engine::entry;

namespace {

// The part that most nodes have, and how many do: nodes that were not needed for the token may have another part.
std::pair<std::uint64_t, std::size_t> common_part(const std::vector<const entry*>& seen) {
  std::map<std::uint64_t, std::size_t> votes;
  for (const entry* e : seen) ++votes[e->part];
  const auto by_votes = [](const auto& a, const auto& b) {
    return std::pair{a.second, a.first} < std::pair{b.second, b.first};
  };
  return *std::ranges::max_element(votes, by_votes);
}

// The longest first.
std::vector<milliseconds> times_left(const std::vector<const entry*>& seen) {
  std::vector<milliseconds> left;
  for (const entry* e : seen) left.push_back(e->left);
  std::ranges::sort(left, std::greater{});
  return left;
}

// Merges one hold that a majority has: it lives as long as enough of the nodes keep it.
entry merged(const std::vector<const entry*>& seen, std::size_t enough) {
  const auto left = times_left(seen);
  entry one = *seen.front();
  one.left = std::max(milliseconds{0}, good_for(left[std::min(enough, left.size()) - 1]));
  one.part = common_part(seen).first;
  return one;
}

}  // namespace

std::vector<fate> tally(const survey<engine::kept>& s, std::size_t ids) {
  const auto nodes = s.all().size();
  std::vector<fate> fates;
  for (std::size_t i = 0; i < ids; ++i) {
    std::size_t holding = 0, others = 0;
    for (std::size_t n = 0; n < nodes; ++n) {
      const auto* said = s.of(n);
      if (said == nullptr || i >= said->fates.size() || said->fates[i] == fate::unknown) continue;
      ++(said->fates[i] == fate::holding ? holding : others);
    }
    const bool cannot_be = nodes - others < majority(nodes);
    fates.push_back(holding >= majority(nodes) ? fate::holding : cannot_be ? fate::gone : fate::unknown);
  }
  return fates;
}

const failure* refusal(const survey<engine::kept>& s, const std::vector<fate>& fates) {
  if (fates.empty() || std::ranges::any_of(fates, [](fate f) { return f != fate::unknown; })) return nullptr;
  const failure* said = nullptr;
  std::size_t refusals = 0;
  for (std::size_t n = 0; n < s.all().size(); ++n) {
    const failure* w = s.wrong(n);
    if (w == nullptr || core::passing(w->kind)) continue;
    said = w;
    ++refusals;
  }
  const auto enough = majority(s.all().size());
  const bool in_the_way = refusals > s.all().size() - enough;
  return in_the_way || (fates.size() > 1 && s.good() + refusals >= enough) ? said : nullptr;
}

milliseconds counted_by_all(const survey<engine::kept>& s) {
  auto least = milliseconds::max();
  for (std::size_t n = 0; n < s.all().size(); ++n) {
    if (s.of(n) != nullptr) least = std::min(least, s.of(n)->ttl);
  }
  return least;
}

namespace {

using sightings = std::map<std::pair<std::string_view, id>, std::vector<const entry*>>;

sightings holds_seen(const survey<engine::page>& s) {
  sightings seen;
  for (std::size_t n = 0; n < s.all().size(); ++n) {
    if (s.of(n) == nullptr) continue;
    for (const entry& e : s.of(n)->entries) {
      if (e.what == fate::holding) seen[{e.name, e.who}].push_back(&e);
    }
  }
  return seen;
}

}  // namespace

namespace {

std::vector<entry> holds_seen_by(const survey<engine::page>& s, std::size_t nodes) {
  const auto enough = majority(s.all().size());
  std::vector<entry> holds;
  for (const auto& [key, all] : holds_seen(s)) {
    if (all.size() >= nodes) holds.push_back(merged(all, enough));
  }
  return holds;
}

}  // namespace

std::vector<entry> holds_of_majority(const survey<engine::page>& s) {
  return holds_seen_by(s, majority(s.all().size()));
}

std::vector<entry> holds_that_may_be(const survey<engine::page>& s) {
  const auto enough = majority(s.all().size()), silent = s.all().size() - s.good();
  return holds_seen_by(s, enough - std::min(silent, enough - 1));
}

bool undecided(const survey<engine::page>& s) {
  const auto enough = majority(s.all().size()), silent = s.all().size() - s.good();
  const auto seen = holds_seen(s);
  return std::ranges::any_of(seen, [&](const auto& one) {
    const auto nodes = one.second.size();
    return nodes < enough && nodes + silent >= enough;
  });
}

namespace {

// Whether its remaining time is about the same whatever the silent nodes say: a hold that was renewed at one majority may
// be read at another, most of which has not renewed it yet.
bool is_known(const std::vector<const entry*>& seen, std::size_t enough, std::size_t silent) {
  if (common_part(seen).second < enough) return false;
  const auto left = times_left(seen);
  const auto most = left[enough - 1 - std::min(silent, enough - 1)], least = left[enough - 1];
  return most - least <= lease::margin(most);
}

}  // namespace

bool settled(const survey<engine::page>& s) {
  const auto enough = majority(s.all().size()), silent = s.all().size() - s.good();
  const auto seen = holds_seen(s);
  return s.has_majority() && std::ranges::all_of(seen, [&](const auto& one) {
           return one.second.size() + silent < enough || is_known(one.second, enough, silent);
         });
}

std::optional<std::uint32_t> counted_by_majority(const survey<std::uint32_t>& s) {
  std::vector<std::uint32_t> counts;
  for (std::size_t n = 0; n < s.all().size(); ++n) {
    if (s.of(n) != nullptr) counts.push_back(*s.of(n));
  }
  const auto last = majority(s.all().size()) - 1, silent = s.all().size() - counts.size();
  if (counts.size() <= last || silent > last) return std::nullopt;
  std::ranges::sort(counts, std::greater{});
  // If all of the silent ones have counted none, and if all have counted more than anybody.
  const auto least = counts[last], most = counts[last - silent];
  return least == most ? std::optional{least} : std::nullopt;
}

}  // namespace tyer::redlock
