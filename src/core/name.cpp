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

std::string printable(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char c : bytes) {
    if (c >= 0x20 && c < 0x7f && c != '\\') {
      text += static_cast<char>(c);
    } else {
      text += "\\x";
      text += digits[c >> 4];
      text += digits[c & 15];
    }
  }
  return text;
}

}  // namespace tyer::core
