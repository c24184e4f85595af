#include "engines/redis/redisson/layout.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

namespace tyer::redis::redisson {

namespace {

// A UUID of version 8, whose bits are ours to choose: 16 digits of the nonce, and "tyer". ask.lua knows it too.
//   nnnnnnnn-nnnn-8nnn-8n00-000074796572
constexpr std::string_view tail = "00-000074796572";
constexpr std::size_t uuid_size = 36;

std::string nonce_digits(std::uint64_t nonce) {
  return core::to_hex(std::string_view{reinterpret_cast<const char*>(&nonce), sizeof nonce});
}

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

bool is_uuid(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return text.size() == uuid_size;
}

// Java's numbers are signed.
std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

std::byte byte_of(std::string_view two_digits) {
  unsigned value = 0;
  std::from_chars(two_digits.data(), two_digits.data() + two_digits.size(), value, 16);
  return static_cast<std::byte>(value);
}

}  // namespace

std::string field_of(const core::id& i) {
  const auto n = nonce_digits(i.nonce());
  std::string field = n.substr(0, 8) + '-' + n.substr(8, 4) + "-8" + n.substr(12, 3) + "-8" + n.substr(15);
  field += tail;
  return field + ':' + std::to_string(static_cast<std::int64_t>(i.serial()));
}

std::optional<core::id> id_of(std::string_view field) {
  if (!looks_like_a_holder(field)) return std::nullopt;
  std::string digits;
  digits.append(field, 0, 8).append(field, 9, 4).append(field, 15, 3).append(field, 20, 1);
  core::id i;
  for (std::size_t at = 0; at < 8; ++at) i.bytes[at] = byte_of(std::string_view{digits}.substr(2 * at, 2));
  const auto serial = *whole_number(field.substr(uuid_size + 1));
  std::memcpy(i.bytes.data() + 8, &serial, sizeof serial);
  if (field_of(i) != field) return std::nullopt;
  return i;
}

bool looks_like_a_holder(std::string_view field) {
  return field.size() > uuid_size + 1 && is_uuid(field.substr(0, uuid_size)) && field[uuid_size] == ':' &&
         whole_number(field.substr(uuid_size + 1));
}

std::string for_another_clock(std::string_view script, std::string_view argument, std::chrono::microseconds ahead) {
  const auto time = script == "acquire" ? whole_number(argument) : std::nullopt;
  return time ? std::to_string(std::max<std::int64_t>(0, *time + ahead.count())) : std::string{argument};
}

std::optional<std::string> layout::name_of(std::string_view key) const {
  if (!key.starts_with(prefix_)) return std::nullopt;
  return std::string{key.substr(prefix_.size())};
}

std::string layout::channel(std::string_view key) {
  const std::string begins = "redisson_lock__channel:";
  return key.find('{') != key.npos ? begins + std::string{key} : begins + '{' + std::string{key} + '}';
}

std::string layout::inbox(std::uint64_t nonce) const { return inboxes() + nonce_digits(nonce); }

}  // namespace tyer::redis::redisson
