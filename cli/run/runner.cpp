#include "run/runner.hpp"

#include "run/shown_command.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace cli {

namespace {

constexpr std::size_t label_bytes_max = 128;  // as many as the library keeps
constexpr std::string_view in = " in ", by = " by ", runs = ": ", cut = "…";
constexpr std::array<std::string_view, 3> tools{"tyer run", "tyer try", "tyer elect"};

std::string user_name() {
  const auto id = ::geteuid();
  const passwd* found = ::getpwuid(id);
  return found == nullptr ? "uid " + std::to_string(id) : found->pw_name;
}

std::string fitted(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' '; }, ' ');
  if (text.size() <= label_bytes_max) return text;
  auto end = label_bytes_max - cut.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  return text.substr(0, end).append(cut);
}

}  // namespace

std::string label_of(std::string_view verb, std::string_view shown_as, std::uint64_t inside) {
  std::string label = "tyer " + std::string{verb};
  if (inside != 0) label.append(in).append(std::to_string(inside));
  return fitted(label.append(by).append(user_name()).append(runs).append(shown_as));
}

std::string label_of(std::string_view verb, const std::vector<std::string>& command, std::uint64_t inside) {
  return label_of(verb, shown_command(command), inside);
}

std::optional<runner> read_label(std::string_view label) {
  for (const auto tool : tools) {
    if (!label.starts_with(tool)) continue;
    auto rest = label.substr(tool.size());
    runner found{std::string{tool}, {}, {}};
    if (rest.starts_with(in)) {
      const auto* const end = rest.data() + rest.size();
      const auto number = std::from_chars(rest.data() + in.size(), end, found.inside);
      rest = {number.ptr, static_cast<std::size_t>(end - number.ptr)};
    }
    if (!rest.starts_with(by)) continue;
    rest.remove_prefix(by.size());
    const auto colon = rest.find(runs);
    if (colon == rest.npos) return std::nullopt;
    found.user = rest.substr(0, colon);
    found.command = rest.substr(colon + runs.size());
    return found;
  }
  return std::nullopt;
}

}  // namespace cli
