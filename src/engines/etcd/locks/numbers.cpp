#include "engines/etcd/locks/numbers.hpp"

#include <algorithm>

namespace tyer::etcd {

namespace {

constexpr std::size_t digits_at = 12;

std::uint32_t number_in(const core::id& at) {
  std::uint32_t n = 0;
  for (std::size_t i = digits_at; i < at.bytes.size(); ++i) n = n << 8 | std::to_integer<std::uint32_t>(at.bytes[i]);
  return n;
}

}  // namespace

core::id numbers::at(std::uint32_t n) const {
  auto id = client_;
  for (std::size_t i = id.bytes.size(); i-- > digits_at; n >>= 8) id.bytes[i] = static_cast<std::byte>(n);
  return id;
}

void numbers::draw_anew(const core::id& drawn) {
  client_ = drawn;
  for (auto& [name, r] : rows_) r.lowest = 0;
}

std::optional<core::id> numbers::find(const std::string& name, const core::id& who) const {
  const auto r = rows_.find(name);
  if (r == rows_.end()) return std::nullopt;
  const auto seat = r->second.by_id.find(who);
  if (seat == r->second.by_id.end()) return std::nullopt;
  return seat->second;
}

core::id numbers::of(const std::string& name, const core::id& who) {
  auto& r = rows_[name];
  const auto [seat, fresh] = r.by_id.try_emplace(who);
  if (!fresh) return seat->second;
  try {
    while (!r.taken.try_emplace(at(r.lowest), who).second) ++r.lowest;
  } catch (...) {
    r.by_id.erase(seat);
    throw;
  }
  return seat->second = at(r.lowest++);
}

core::id numbers::another(const std::string& name, const core::id& who) {
  auto& r = rows_[name];
  if (const auto seat = r.by_id.find(who); seat != r.by_id.end()) {
    r.taken[seat->second] = {};
    r.by_id.erase(seat);
  }
  return of(name, who);
}

bool numbers::has(const core::id& seat) const { return at(number_in(seat)) == seat; }

std::optional<core::id> numbers::whose(const std::string& name, const core::id& seat) const {
  const auto r = rows_.find(name);
  if (r == rows_.end()) return std::nullopt;
  const auto who = r->second.taken.find(seat);
  if (who == r->second.taken.end()) return std::nullopt;
  return who->second;
}

void numbers::free(const std::string& name, const core::id& seat) {
  const auto who = whose(name, seat);
  if (!who) return;
  const auto r = rows_.find(name);
  r->second.taken.erase(seat);
  r->second.by_id.erase(*who);
  if (has(seat)) r->second.lowest = std::min(r->second.lowest, number_in(seat));
  if (r->second.taken.empty()) rows_.erase(r);
}

}  // namespace tyer::etcd
