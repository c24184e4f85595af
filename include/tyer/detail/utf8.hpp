// For those who take nothing but UTF-8. Names and owners of locks may be any bytes.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace tyer {
inline namespace v1 {
namespace detail {

// How many bytes the first character has; 0: they are not UTF-8.
inline std::size_t utf8_size(std::string_view text) noexcept {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const auto lead = byte(0);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  const unsigned second = size > 2 ? byte(1) : 0;  // too long a form, a surrogate, or above all of Unicode
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f)) return 0;
  if ((lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) return 0;
  return size;
}

inline bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto size = utf8_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

// The same text, with \xNN for each byte that is not UTF-8.
inline std::string to_utf8(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  while (!bytes.empty()) {
    if (const auto size = utf8_size(bytes); size > 0) {
      text += bytes.substr(0, size);
      bytes.remove_prefix(size);
      continue;
    }
    const auto byte = static_cast<unsigned char>(bytes.front());
    text += "\\x";
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
    bytes.remove_prefix(1);
  }
  return text;
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
