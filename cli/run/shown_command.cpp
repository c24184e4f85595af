#include "run/shown_command.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <string_view>

namespace cli {

namespace {

constexpr std::string_view not_shown = "…";

bool names_a_secret(std::string_view word) {
  constexpr std::array<std::string_view, 8> parts{"pass",       "pwd",        "secret", "token",
                                                  "credential", "authorizat", "apikey", "api-key"};
  std::string low{word};
  std::ranges::transform(low, low.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return low == "--auth" || std::ranges::any_of(parts, [&](std::string_view p) { return low.find(p) != low.npos; });
}

// Programs with an option of one letter that a password follows.
struct habit {
  std::string_view program, option;
  bool apart;  // the password may be the next word
};
constexpr std::array<habit, 7> habits{{{"mysql", "-p", false},
                                       {"mariadb", "-p", false},
                                       {"sshpass", "-p", true},
                                       {"redis-cli", "-a", true},
                                       {"valkey-cli", "-a", true},
                                       {"ldapsearch", "-w", true},
                                       {"curl", "-u", true}}};

const habit* habit_of(std::string_view word) {
  const auto name = word.substr(word.rfind('/') + 1);
  const auto* const at = std::ranges::find_if(habits, [&](const habit& h) { return name.starts_with(h.program); });
  return at == habits.end() ? nullptr : at;
}

// The login in scheme://user:password@host.
std::string without_login(std::string word) {
  const auto scheme = word.find("://");
  if (scheme == word.npos) return word;
  const auto end = word.rfind('@');
  if (end == word.npos || end < scheme) return word;
  return word.replace(scheme + 3, end - scheme - 3, not_shown);
}

std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream words{text};
  for (std::string w; words >> w;) all.push_back(std::move(w));
  return all;
}

class line {
 public:
  explicit line(const std::vector<std::string>& command) {
    for (const auto& word : command) add(word);
  }
  std::string text() && { return std::move(text_); }

 private:
  void add(const std::string& word) {
    if (secret_from_here_ && text_.ends_with(not_shown)) return;
    if (!text_.empty()) text_ += ' ';
    if (secret_from_here_ || next_is_secret_) {
      text_ += not_shown;
      next_is_secret_ = false;
      return;
    }
    text_ += shown(word);
    first_ = false;
  }

  std::string shown(const std::string& word) {
    if (word.find_first_of(" \t\n") != word.npos) return '\'' + line{words_in(word)}.text() + '\'';  // of sh -c
    if (habit_ != nullptr && word.starts_with(habit_->option)) {
      next_is_secret_ = habit_->apart && word == habit_->option;
      const bool inside = word.size() > habit_->option.size();
      return std::string{habit_->option}.append(inside ? not_shown : "");
    }
    if (const auto* known = habit_of(word)) habit_ = known;
    for (const char sign : {'=', ':'}) {
      const auto end = word.find(sign);
      if (end == word.npos || !names_a_secret(word.substr(0, end))) continue;
      secret_from_here_ = word.ends_with(':');  // of a header: all of the value
      return word.substr(0, end + 1).append(secret_from_here_ ? "" : not_shown);
    }
    next_is_secret_ = !first_ && word.starts_with('-') && word.find('=') == word.npos && names_a_secret(word);
    auto bare = without_login(word);
    return bare.empty() ? "''" : bare;
  }

  std::string text_;
  const habit* habit_ = nullptr;
  bool first_ = true, next_is_secret_ = false, secret_from_here_ = false;
};

}  // namespace

std::string shown_command(const std::vector<std::string>& command) { return line{command}.text(); }

}  // namespace cli
