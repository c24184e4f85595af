#include "base/secrets.hpp"

namespace cli {

namespace {

constexpr std::string_view scheme_letters = "abcdefghijklmnopqrstuvwxyz0123456789+-.";
constexpr std::string_view not_shown = "…";

// Anything after the scheme may be part of the password, which may contain any of the characters that should end it.
std::string scheme_of(std::string_view typed) {
  const auto end = typed.find("://");
  if (end == typed.npos || typed.find_first_not_of(scheme_letters) != end) return std::string{not_shown};
  return std::string{typed.substr(0, end + 3)}.append(not_shown);
}

void replace_all(std::string& text, std::string_view old, const std::string& by) {
  for (auto at = text.find(old); at != text.npos; at = text.find(old, at + by.size())) text.replace(at, old.size(), by);
}

}  // namespace

std::string shown_url(std::string_view typed) {
  return typed.find_first_of("@:/?") == typed.npos ? std::string{typed} : scheme_of(typed);
}

std::string without_urls(std::string text, int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (const auto equals = word.find('='); word.starts_with("--") && equals != word.npos)
      word.remove_prefix(equals + 1);
    if (word.find_first_of("@?") != word.npos) replace_all(text, word, scheme_of(word));
  }
  return text;
}

}  // namespace cli
