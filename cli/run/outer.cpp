#include "run/outer.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace cli {

bool outer::has(const std::string& hold) const { return std::ranges::find(holds, hold) != holds.end(); }

outer read_outer() {
  const char* const value = std::getenv("TYER_INSIDE");
  if (value == nullptr) return {};
  outer found;
  std::string_view text = value;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), found.process);
  if (wrong != std::errc{} || end == text.data() + text.size() || *end != ':') return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  while (!text.empty()) {
    const auto one = text.substr(0, text.find(','));
    found.holds.emplace_back(one);
    text.remove_prefix(std::min(one.size() + 1, text.size()));
  }
  return found;
}

std::string with_hold(const outer& around, std::uint64_t process, const std::string& hold) {
  std::string text = std::to_string(around.process != 0 ? around.process : process) + ':';
  for (const auto& h : around.holds) text += h + ',';
  return text + hold;
}

}  // namespace cli
