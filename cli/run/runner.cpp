#include "run/runner.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <sstream>

namespace cli {

namespace {

constexpr std::size_t label_bytes_max = 128;  // as many as the library keeps
constexpr std::string_view in = " in ", by = " by ", runs = ": ", not_shown = "…";
constexpr std::array<std::string_view, 3> tools{"tyer run", "tyer try", "tyer elect"};

std::string user_name() {
  const auto id = ::geteuid();
  const passwd* found = ::getpwuid(id);
  return found == nullptr ? "uid " + std::to_string(id) : found->pw_name;
}

bool names_a_secret(std::string_view word) {
  constexpr std::array<std::string_view, 7> parts{"pass", "pwd", "secret", "token", "credential", "apikey", "api-key"};
  std::string low{word};
  std::ranges::transform(low, low.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(parts, [&](std::string_view p) { return low.find(p) != low.npos; });
}

// The login in scheme://user:password@host.
std::string without_login(std::string word) {
  const auto scheme = word.find("://");
  if (scheme == word.npos) return word;
  const auto end = word.rfind('@');
  if (end == word.npos || end < scheme) return word;
  return word.replace(scheme + 3, end - scheme - 3, not_shown);
}

std::string in_a_line(const std::vector<std::string>& command);

std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream words{text};
  for (std::string w; words >> w;) all.push_back(std::move(w));
  return all;
}

std::string shown_word(const std::string& word, bool is_secret) {
  if (is_secret) return std::string{not_shown};
  if (word.find_first_of(" \t\n") != word.npos) return '\'' + in_a_line(words_in(word)) + '\'';  // of sh -c
  const auto equals = word.find('=');
  if (equals != word.npos && names_a_secret(word.substr(0, equals)))
    return word.substr(0, equals + 1).append(not_shown);
  auto shown = without_login(word);
  return shown.empty() ? "''" : shown;
}

// `mysql -pSECRET`
bool is_password_of_mysql(const std::string& program, const std::string& word) {
  const auto name = program.substr(program.rfind('/') + 1);
  return (name.starts_with("mysql") || name.starts_with("mariadb")) && word.starts_with("-p") && word.size() > 2;
}

std::string in_a_line(const std::vector<std::string>& command) {
  std::string line;
  bool is_secret = false;  // the previous word is an option that takes a secret
  for (const auto& word : command) {
    if (!line.empty()) line += ' ';
    line +=
        is_password_of_mysql(command.front(), word) ? std::string{"-p"}.append(not_shown) : shown_word(word, is_secret);
    is_secret =
        &word != &command.front() && word.starts_with('-') && word.find('=') == word.npos && names_a_secret(word);
  }
  return line;
}

std::string fitted(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' '; }, ' ');
  if (text.size() <= label_bytes_max) return text;
  auto end = label_bytes_max - not_shown.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  return text.substr(0, end).append(not_shown);
}

}  // namespace

std::string label_of(std::string_view verb, std::string_view shown_as, std::uint64_t inside) {
  std::string label = "tyer " + std::string{verb};
  if (inside != 0) label.append(in).append(std::to_string(inside));
  return fitted(label.append(by).append(user_name()).append(runs).append(shown_as));
}

std::string label_of(std::string_view verb, const std::vector<std::string>& command, std::uint64_t inside) {
  return label_of(verb, in_a_line(command), inside);
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
