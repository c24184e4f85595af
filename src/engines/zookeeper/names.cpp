#include "engines/zookeeper/names.hpp"

#include <charconv>

namespace tyer::zookeeper {

namespace {

void append_encoded(std::string& out, char c) {
  static constexpr char hex[] = "0123456789ABCDEF";
  const auto b = static_cast<unsigned char>(c);
  ((out += '%') += hex[b >> 4U]) += hex[b & 15U];
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto byte = from_hex(text.substr(i + 1, 2));
    if (!byte || byte->size() != 1) return std::nullopt;
    out += *byte;
    i += 2;
  }
  return out;
}

// How many bytes a character takes that servers let into a path; 0: none. They want UTF-8, and refuse what Java counts among control
// characters, surrogates, and the private ones.
std::size_t allowed(std::string_view rest) {
  const auto byte = [&](std::size_t i) { return i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  if (byte(0) < 0x80U) return byte(0) >= ' ' && byte(0) <= '~' ? 1 : 0;
  if ((byte(0) & 0xe0U) == 0xc0U && follows(1)) return ((byte(0) & 0x1fU) << 6U | (byte(1) & 0x3fU)) >= 0xa0U ? 2 : 0;
  if ((byte(0) & 0xf0U) != 0xe0U || !follows(1) || !follows(2)) return 0;
  const auto code = (byte(0) & 0xfU) << 12U | (byte(1) & 0x3fU) << 6U | (byte(2) & 0x3fU);
  return (code >= 0x800U && code < 0xd800U) || (code >= 0xf900U && code < 0xfff0U) ? 3 : 0;
}

// A step that means another, or is the servers' own.
bool must_not_begin(std::string_view rest, bool first) {
  const auto step = rest.substr(0, rest.find('/'));
  return step == "." || step == ".." || (first && step == "zookeeper");
}

}  // namespace

std::optional<std::string> from_hex(std::string_view hex) {
  std::string raw;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned byte = 0;
    const auto pair = hex.substr(i, 2);
    const auto [at, error] = std::from_chars(pair.data(), pair.data() + pair.size(), byte, 16);
    if (error != std::errc{} || pair.size() != 2 || at != pair.data() + 2) return std::nullopt;
    raw += static_cast<char>(byte);
  }
  return raw;
}

std::string escape(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    plain ? void(out += c) : append_encoded(out, c);
  }
  return out;
}

std::optional<std::string> unescape(std::string_view text) {
  const auto out = decoded(text);
  return out && escape(*out) == text ? out : std::nullopt;
}

std::string as_path(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    const auto rest = name.substr(i);
    const bool begins = out.empty() || out.back() == '/';
    const bool separates = name[i] == '/' && !begins && rest.size() > 1;
    const auto bytes = allowed(rest);
    const bool encoded =
        bytes == 0 || name[i] == '%' || (name[i] == '/' ? !separates : begins && must_not_begin(rest, i == 0));
    if (encoded) {
      append_encoded(out, name[i++]);
    } else {
      out += rest.substr(0, bytes);
      i += bytes;
    }
  }
  return out;
}

std::optional<std::string> from_path(std::string_view path) {
  const auto out = decoded(path);
  return out && as_path(*out) == path ? out : std::nullopt;
}

}  // namespace tyer::zookeeper
