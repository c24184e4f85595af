#include "base/spelling.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <utility>

namespace cli {

namespace {

constexpr std::size_t beginning_min = 3;
constexpr std::size_t slip_length_min = 3;  // with one slip any letter is near any other

// How many letters must be inserted, deleted, changed, or swapped with their neighbour.
std::size_t slips_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({now[j - 1] + 1, last[j] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

std::string_view without_dashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

}  // namespace

std::string nearest(std::string_view typed, const std::vector<std::string>& known) {
  const auto word = without_dashes(typed);
  auto fewest = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string best;
  for (const auto& k : known) {
    const auto slips = slips_between(word, without_dashes(k));
    if (slips >= fewest) continue;
    fewest = slips;
    best = k;
  }
  if (!best.empty() || word.size() < beginning_min) return best;
  const auto at = std::ranges::find_if(known, [&](const auto& k) { return without_dashes(k).starts_with(word); });
  return at == known.end() ? std::string{} : *at;
}

namespace {

// Letters and digits, without capitals.
std::string bare(std::string_view text) {
  std::string out;
  for (const unsigned char c : text) {
    if (c >= 0x80 || std::isalnum(c) != 0) out += static_cast<char>(std::tolower(c));
  }
  return out;
}

constexpr std::size_t length_compared_max = 128, far = std::string::npos;

std::size_t distance(std::string_view typed, std::string_view name) {
  if (name.size() > length_compared_max || typed.size() > length_compared_max) return far;
  const auto a = bare(typed), b = bare(name);
  if (a == b) return a.empty() ? far : 0;
  const auto slips = slips_between(a, b);
  if (a.size() >= slip_length_min && slips <= std::max<std::size_t>(1, a.size() / 4)) return slips;
  const auto& shorter = a.size() < b.size() ? a : b;
  const auto& longer = a.size() < b.size() ? b : a;
  const bool part = shorter.size() >= beginning_min && longer.find(shorter) != longer.npos;
  return part ? longer.size() : far;  // after all typing errors
}

}  // namespace

std::vector<std::string> similar(std::string_view typed, const std::vector<std::string>& known, std::size_t at_most) {
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& k : known) {
    if (const auto d = distance(typed, k); d != far) near.emplace_back(d, k);
  }
  std::ranges::sort(near);
  std::vector<std::string> names;
  for (auto& [d, name] : near) {
    if (names.size() < at_most) names.push_back(std::move(name));
  }
  return names;
}

std::string known_elsewhere_as(std::string_view typed) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> words{{{"list", "ls"},
                                                                                 {"status", "show"},
                                                                                 {"info", "show"},
                                                                                 {"get", "show"},
                                                                                 {"lock", "run"},
                                                                                 {"exec", "run"},
                                                                                 {"unlock", "break"},
                                                                                 {"release", "break"},
                                                                                 {"check", "doctor"},
                                                                                 {"lead", "elect"}}};
  const auto* const at = std::ranges::find(words, typed, &std::pair<std::string_view, std::string_view>::first);
  return at == words.end() ? std::string{} : std::string{at->second};
}

}  // namespace cli
