#include "engines/redis/keys.hpp"

#include <cstring>

namespace tyer::redis {

namespace {

void escape(std::string_view name, std::string& out) {
  static constexpr std::string_view special = "%{}";
  for (std::size_t at; (at = name.find_first_of(special)) != name.npos; name.remove_prefix(at + 1)) {
    out += name.substr(0, at);
    out += name[at] == '%' ? "%25" : name[at] == '{' ? "%7B" : "%7D";
  }
  out += name;
}

// Nothing for what escape() never writes.
std::optional<std::string> unescape(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' || text[i] == '}') return std::nullopt;
    if (text[i] != '%') {
      name += text[i];
      continue;
    }
    const auto code = text.substr(i + 1, 2);
    if (code == "25")
      name += '%';
    else if (code == "7B")
      name += '{';
    else if (code == "7D")
      name += '}';
    else
      return std::nullopt;
    i += 2;
  }
  return name;
}

}  // namespace

void escape_glob(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (std::strchr("*?[]^\\", c) != nullptr && c != '\0') out += '\\';
    out += c;
  }
}

failure keys::check_prefix(std::string_view prefix) {
  if (prefix.find_first_of("{}") == prefix.npos) return {};
  return {errc::invalid_option,
          "a prefix for Redis must not have { or }: they mark the part of a key that a cluster hashes"};
}

void keys::state(std::string_view name, std::string& out) const {
  out += prefix_;
  out += '{';
  escape(name, out);
  out += '}';
}

std::string keys::state(std::string_view name) const {
  std::string key;
  state(name, key);
  return key;
}

std::string keys::inbox(std::uint64_t nonce) const {
  char raw[sizeof nonce];
  std::memcpy(raw, &nonce, sizeof nonce);
  return prefix_ + "inbox:" + core::to_hex(std::string_view{raw, sizeof raw});
}

std::optional<std::string> keys::name_of(std::string_view key) const {
  if (!key.starts_with(prefix_)) return std::nullopt;
  key.remove_prefix(prefix_.size());
  if (key.size() < 3 || key.front() != '{' || key.back() != '}') return std::nullopt;
  return unescape(key.substr(1, key.size() - 2));
}

std::string keys::pattern(std::string_view name_prefix) const {
  std::string escaped, glob;
  escape(name_prefix, escaped);
  escape_glob(prefix_, glob);
  glob += '{';
  escape_glob(escaped, glob);
  return glob + '*';
}

}  // namespace tyer::redis
