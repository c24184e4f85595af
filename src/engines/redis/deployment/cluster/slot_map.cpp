#include "engines/redis/deployment/cluster/slot_map.hpp"

#include <algorithm>

namespace tyer::redis {

std::uint16_t slot_map::number_of(const core::endpoint& master, std::uint64_t epoch) {
  const auto at = std::find_if(claims_.begin(), claims_.end(),
                               [&](const claim& c) { return c.epoch == epoch && c.master == master; });
  if (at != claims_.end()) return static_cast<std::uint16_t>(at - claims_.begin());
  claims_.push_back({master, epoch, 0});
  return static_cast<std::uint16_t>(claims_.size() - 1);
}

// True if the slot has another master now.
bool slot_map::give(std::uint16_t slot, std::uint16_t to) {
  const auto from = owner_[slot];
  if (from == to) return false;
  owner_[slot] = to;
  ++claims_[to].slots;
  if (from == nobody) {
    --without_master_;
    return true;
  }
  --claims_[from].slots;
  return claims_[from].master != claims_[to].master;
}

void slot_map::note(const std::vector<node>& nodes, const core::endpoint& teller, engine::time_point now) {
  std::erase_if(views_, [&](const view& v) { return v.teller == teller || now - v.told > lately; });
  auto& mine = views_.emplace_back(view{teller, now, {}});
  for (const auto& n : nodes) {
    if (n.master && !n.slots.empty()) mine.masters.emplace_back(n.at, n.epoch);
  }
}

bool slot_map::most_say(const node& n) const {
  const auto says = [&](const view& v) {
    return std::find(v.masters.begin(), v.masters.end(), std::pair{n.at, n.epoch}) != v.masters.end();
  };
  return 2 * static_cast<std::size_t>(std::count_if(views_.begin(), views_.end(), says)) > views_.size();
}

bool slot_map::learn(const std::vector<node>& nodes, const core::endpoint& teller, engine::time_point now,
                     const std::function<bool(const core::endpoint&)>& given_up) {
  forget_empty();
  note(nodes, teller, now);
  std::vector<bool> void_claims;
  for (const auto& c : claims_) void_claims.push_back(given_up(c.master));
  bool changed = false;
  for (const auto& n : nodes) {
    if (!n.master || n.slots.empty()) continue;
    const bool agreed = most_say(n);
    for (const auto& run : n.slots) {
      for (std::uint32_t slot = run.first; slot <= run.last; ++slot) {
        const auto had = owner_[slot];
        const bool by_master = had != nobody && claims_[had].master == teller;
        const bool newer = had == nobody || n.epoch > claims_[had].epoch;
        if (!newer && !by_master && !(agreed && had < void_claims.size() && void_claims[had])) continue;
        const auto epoch = by_master && n.at != teller ? std::max(n.epoch, claims_[had].epoch) : n.epoch;
        changed = give(static_cast<std::uint16_t>(slot), number_of(n.at, epoch)) || changed;
      }
    }
  }
  return changed;
}

bool slot_map::moved(std::uint16_t slot, const core::endpoint& to) {
  const auto had = owner_[slot];
  if (had != nobody && claims_[had].master == to) return false;
  return give(slot, number_of(to, had == nobody ? 0 : claims_[had].epoch));
}

void slot_map::forget_empty() {
  if (std::none_of(claims_.begin(), claims_.end(), [](const claim& c) { return c.slots == 0; })) return;
  std::vector<std::uint16_t> renumbered(claims_.size(), nobody);
  std::vector<claim> kept;
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    if (claims_[i].slots == 0) continue;
    renumbered[i] = static_cast<std::uint16_t>(kept.size());
    kept.push_back(std::move(claims_[i]));
  }
  claims_ = std::move(kept);
  for (auto& o : owner_) {
    if (o != nobody) o = renumbered[o];
  }
}

}  // namespace tyer::redis
