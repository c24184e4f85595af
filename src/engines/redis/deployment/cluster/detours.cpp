#include "engines/redis/deployment/cluster/detours.hpp"

namespace tyer::redis {

bool detours::note(std::string_view key, std::uint32_t from, std::uint32_t to, time_point now) {
  const auto at = names_.find(key);
  if (at == names_.end()) return names_.emplace(key, detour{from, to, now}).second;
  const bool news = at->second.from != from || at->second.to != to;
  at->second = {from, to, now};
  return news;
}

// Masters are numbered from 1, so two groups could get the same number only after 32768 masters.
std::uint32_t detours::group(std::string_view key, std::uint32_t owner) const {
  if (names_.empty()) return owner;
  const auto at = names_.find(key);
  if (at == names_.end() || at->second.from != owner) return owner;
  return 0x80000000U | (owner & 0x7fffU) << 16 | (at->second.to & 0xffffU);
}

void detours::forget_old(time_point now) {
  std::erase_if(names_, [now](const auto& n) { return now - n.second.said >= forgotten_after; });
}

}  // namespace tyer::redis
