#include "engines/redis/locks/keys.hpp"

#include "engines/kit/escape.hpp"

#include <cstring>

namespace tyer::redis {

using kit::escape;
using kit::unescape;

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
