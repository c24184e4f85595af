#include "engines/etcd/go/layout.hpp"

#include "core/name.hpp"

#include <algorithm>
#include <charconv>

namespace tyer::etcd::go {

namespace {

bool is_lease(std::string_view hex) {
  if (hex.starts_with('-')) hex.remove_prefix(1);
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return !hex.empty() && hex.size() <= 16 && hex.front() != '0' && std::ranges::all_of(hex, digit);
}

void append(std::string& raw, std::int64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) raw += static_cast<char>(static_cast<std::uint64_t>(number) >> shift);
}

// The same for whoever looks, and no other key's, now or later.
id stranger(const pb::KeyValue& kv) {
  std::string raw;
  append(raw, kv.lease());
  append(raw, kv.create_revision());
  return id::from(raw);
}

}  // namespace

std::string layout::key(std::string_view name, std::int64_t lease) const {
  char digits[17];
  const auto end = std::to_chars(digits, digits + sizeof digits, lease, 16).ptr;
  return prefix_ + std::string{name} + '/' + std::string{digits, end};
}

key_range layout::room(std::string_view name) const {
  const auto base = prefix_ + std::string{name} + '/';
  return {base + '-', base + 'g'};
}

// etcd knows no empty key; \0 as the end means that there is none.
key_range layout::beginning_with(std::string_view name_prefix) const {
  key_range r{prefix_ + std::string{name_prefix}, {}};
  r.to = r.from;
  while (!r.to.empty() && r.to.back() == '\xff') r.to.pop_back();
  if (r.to.empty())
    r.to = std::string(1, '\0');
  else
    ++r.to.back();
  if (r.from.empty()) r.from = std::string(1, '\0');
  return r;
}

std::optional<std::string> layout::name_of(std::string_view key) const {
  if (!key.starts_with(prefix_)) return std::nullopt;
  key.remove_prefix(prefix_.size());
  const auto slash = key.rfind('/');
  if (slash == key.npos || slash == 0 || !is_lease(key.substr(slash + 1))) return std::nullopt;
  return std::string{key.substr(0, slash)};
}

std::variant<std::vector<place>, failure> read(const layout& l, std::string_view name, const pb::RangeResponse& r) {
  std::vector<place> all;
  for (const auto& kv : r.kvs()) {
    if (l.name_of(kv.key()) != name) continue;
    if (kv.lease() == 0) {
      return no(why::name_conflict, errc::name_conflict,
                "at " + core::quoted(kv.key()) + " lies something that has no lease, so it is no lock of Go's");
    }
    auto& p = all.emplace_back(stranger(kv), kv.key(), kv.create_revision(), kv.mod_revision(), kv.lease(),
                               read_value(kv.value()));
    if (p.record && id::from(p.record->id())) p.who = id::from(p.record->id());
  }
  std::ranges::sort(all, {}, &place::created);
  return all;
}

}  // namespace tyer::etcd::go
