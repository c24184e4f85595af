#include "engines/etcd/keys.hpp"

#include "engines/kit/escape.hpp"

namespace tyer::etcd {

namespace {

constexpr std::string_view floor_word = "floor";

std::string escape(std::string_view name) {
  std::string out;
  kit::escape(name, out);
  return out;
}

std::optional<core::id> read_id(std::string_view hex) {
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  if (hex.size() != 2 * core::id{}.bytes.size()) return std::nullopt;
  core::id read;
  for (std::size_t i = 0; i < read.bytes.size(); ++i) {
    const int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    read.bytes[i] = static_cast<std::byte>(high * 16 + low);
  }
  return read;
}

}  // namespace

tyer::failure keys::check_prefix(std::string_view prefix) {
  if (prefix.find_first_of("{}") == prefix.npos) return {};
  return {errc::invalid_option, "a prefix for etcd must not have { or }: they mark where the name begins and ends"};
}

key_range keys::room(std::string_view name) const {
  const auto base = prefix_ + '{' + escape(name) + '}';
  return {base + '/', base + '0'};  // '0' follows '/'
}

key_range keys::seats(std::string_view name) const { return {room(name).from, floor(name)}; }  // f is the last digit

std::string keys::seat(std::string_view name, const core::id& at) const { return room(name).from + to_hex(at); }

std::string keys::floor(std::string_view name) const { return room(name).from + std::string{floor_word}; }

key_range keys::beginning_with(std::string_view name_prefix) const {
  key_range r{prefix_ + '{' + escape(name_prefix), {}};
  r.to = r.from;
  while (r.to.back() == '\xff') r.to.pop_back();  // ends at the brace at the latest
  ++r.to.back();
  return r;
}

std::optional<keys::parts> keys::read(std::string_view key) const {
  if (!key.starts_with(prefix_)) return std::nullopt;
  key.remove_prefix(prefix_.size());
  const auto end = key.find('}');
  if (key.empty() || key.front() != '{' || end == key.npos || key.substr(end, 2) != "}/") return std::nullopt;
  auto name = kit::unescape(key.substr(1, end - 1));
  const auto last = key.substr(end + 2);
  if (!name) return std::nullopt;
  if (last == floor_word) return parts{*std::move(name), std::nullopt};
  const auto at = read_id(last);
  if (!at) return std::nullopt;
  return parts{*std::move(name), at};
}

}  // namespace tyer::etcd
