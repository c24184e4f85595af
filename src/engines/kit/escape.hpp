// A name inside a key: %, { and } are escaped, so that the only braces in a key are our own. Each byte is escaped independently
// of its neighbours, so names with a common prefix stay adjacent.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tyer::kit {

inline void escape(std::string_view name, std::string& out) {
  for (std::size_t at; (at = name.find_first_of("%{}")) != name.npos; name.remove_prefix(at + 1)) {
    out += name.substr(0, at);
    out += name[at] == '%' ? "%25" : name[at] == '{' ? "%7B" : "%7D";
  }
  out += name;
}

// Nothing for text that escape() never produces.
inline std::optional<std::string> unescape(std::string_view text) {
  std::string name;
  for (std::size_t at; (at = text.find_first_of("%{}")) != text.npos; text.remove_prefix(at + 3)) {
    const auto code = text.substr(at, 3);
    if (code != "%25" && code != "%7B" && code != "%7D") return std::nullopt;
    name += text.substr(0, at);
    name += code == "%25" ? '%' : code == "%7B" ? '{' : '}';
  }
  return name.append(text);
}

}  // namespace tyer::kit
