#include "core/name.hpp"

namespace tyer::core {

failure check_name(std::string_view name) {
  if (name.empty()) return {errc::invalid_name, "the name is empty"};
  if (name.size() > name_bytes_max) {
    return {errc::invalid_name, "the name has " + std::to_string(name.size()) + " bytes, at most " +
                                    std::to_string(name_bytes_max) + " are allowed"};
  }
  return {};
}

namespace {

void append_escaped(std::string& text, unsigned char c) {
  static constexpr char digits[] = "0123456789abcdef";
  text += "\\x";
  text += digits[c >> 4];
  text += digits[c & 15];
}

std::string shown(std::string_view bytes, bool in_quotes) {
  std::string text;
  for (const unsigned char c : bytes) {
    if (c >= 0x20 && c < 0x7f && c != '\\' && !(in_quotes && c == '"'))
      text += static_cast<char>(c);
    else
      append_escaped(text, c);
  }
  return text;
}

}  // namespace

std::string printable(std::string_view bytes) { return shown(bytes, false); }

std::string quoted(std::string_view name) { return '"' + shown(name, true) + '"'; }

}  // namespace tyer::core
