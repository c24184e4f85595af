#include "text/plain.hpp"

#include <wchar.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace cli {

namespace {

struct character {
  std::size_t bytes = 1;
  char32_t code = 0;
  bool valid = false;
};

// The first character of a text that is not empty. Overlong forms and surrogates are invalid.
character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto lead = byte(0);
  if (lead < 0x80) return {1, lead, true};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  char32_t code = lead & (0xff >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {length, code, true};
}

struct range {
  char32_t first, last;
};
constexpr bool is_in(const auto& ranges, char32_t code) {
  return std::ranges::any_of(ranges, [&](const range& r) { return code >= r.first && code <= r.last; });
}

// Text after these runs the other way, or on another line.
constexpr range turning[] = {{0x61c, 0x61c}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};

// With one of these a name looks like another. Joiners (200c, 200d) are not among them: scripts and emoji need them.
constexpr range unseen[] = {{0xad, 0xad},     {0x34f, 0x34f},   {0x115f, 0x1160},   {0x17b4, 0x17b5},  {0x180e, 0x180e},
                            {0x200b, 0x200b}, {0x2060, 0x2064}, {0x206a, 0x206f},   {0x3164, 0x3164},  {0xfeff, 0xfeff},
                            {0xffa0, 0xffa0}, {0xfff9, 0xfffb}, {0x1bca0, 0x1bca3}, {0xe0000, 0xe007f}};

// The width of one character, in the locale that main() has set; negative for characters that must not be printed.
int width_of(char32_t code) {
  return is_in(turning, code) || is_in(unseen, code) ? -1 : ::wcwidth(static_cast<wchar_t>(code));
}

std::string escaped(const character& c, std::string_view text) {
  char out[16];
  if (c.code < 0x80 || !c.valid) {
    std::snprintf(out, sizeof out, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(text[0])));
  } else {
    std::snprintf(out, sizeof out, "\\u{%x}", static_cast<unsigned>(c.code));
  }
  return out;
}

}  // namespace

std::string plain(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto c = first_of(text);
    if (c.valid && width_of(c.code) >= 0 && c.code != 0) {
      out += text.substr(0, c.bytes);
    } else {
      out += escaped(c, text);
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

int columns(std::string_view text) {
  int sum = 0;
  while (!text.empty()) {
    const auto c = first_of(text);
    if (c.valid) sum += std::max(width_of(c.code), 0);
    text.remove_prefix(c.bytes);
  }
  return sum;
}

std::string shortened(std::string_view text, int columns_max) {
  if (columns(text) <= columns_max) return std::string{text};
  std::string out;
  int used = 1;  // the ellipsis
  while (!text.empty()) {
    const auto c = first_of(text);
    used += c.valid ? std::max(width_of(c.code), 0) : 1;
    if (used > columns_max) break;
    out += text.substr(0, c.bytes);
    text.remove_prefix(c.bytes);
  }
  return columns_max > 0 ? out + "…" : std::string{};
}

std::string short_address(std::string_view address) {
  const auto more = std::ranges::count(address, ',');
  const auto scheme = address.find("://");
  const auto path = scheme == address.npos ? address.npos : address.find('/', scheme + 3);
  auto text = plain(address.substr(0, std::min(address.find(','), path)));
  if (path != address.npos) text += plain(address.substr(path));
  return more == 0 ? text : text + " and " + std::to_string(more) + " more";
}

std::string named(std::string_view name) { return '\'' + plain(name) + '\''; }

std::string for_shell(std::string_view name) {
  constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_.:,@%+=-";
  const std::string mark = name.starts_with('-') ? "-- " : "";
  if (!name.empty() && name.find_first_not_of(harmless) == name.npos) return mark + std::string{name};
  std::string quoted;
  for (const char c : plain(name)) quoted += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return mark + '\'' + quoted + '\'';
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto c = first_of(text);
    if (!c.valid) return false;
    text.remove_prefix(c.bytes);
  }
  return true;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto c = first_of(text);
    out += c.valid ? text.substr(0, c.bytes) : "\xef\xbf\xbd";
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace cli
