// The version of a server, as in "3.5.14".
#pragma once

#include <charconv>
#include <compare>
#include <string>
#include <string_view>

namespace tyer::kit {

struct version {
  int major = 0, minor = 0, patch = 0;
  friend auto operator<=>(const version&, const version&) = default;
};

// As far as there are numbers with dots between them; what is missing is 0.
inline version read_version(std::string_view text) {
  version v;
  for (int* part : {&v.major, &v.minor, &v.patch}) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *part);
    if (error != std::errc{}) break;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with('.')) break;
    text.remove_prefix(1);
  }
  return v;
}

inline std::string shown(const version& v) {
  return std::to_string(v.major) + '.' + std::to_string(v.minor) + '.' + std::to_string(v.patch);
}

}  // namespace tyer::kit
