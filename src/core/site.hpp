// A call site as it is shown: "order.cc:87".
#pragma once

#include <source_location>
#include <string>
#include <string_view>

namespace tyer::core {

inline std::string site_of(const std::source_location& where) {
  const std::string_view file{where.file_name()};
  return std::string{file.substr(file.rfind('/') + 1)} + ':' + std::to_string(where.line());
}

}  // namespace tyer::core
