// A call site as it is shown: "order.cc:87".
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace tyer::core {

inline void append_site(std::string& to, std::string_view file, std::uint32_t line) {
  if (const auto at = file.rfind('/'); at != file.npos) file.remove_prefix(at + 1);
  to.append(file).append(1, ':').append(std::to_string(line));
}

inline std::string site_of(const std::source_location& where) {
  std::string text;
  append_site(text, where.file_name(), where.line());
  return text;
}

}  // namespace tyer::core
