#include "stats/board.hpp"

#include <algorithm>

namespace tyer::stats {

namespace {

group_stats shown(const group& g) {
  group_stats s{.name = g.name};
  for (std::size_t i = 0; i < s.acquire_duration.all.size(); ++i) {
    s.acquire_duration.all[i] = g.acquire_duration.all[i].read();
  }
  s.hold_duration = g.hold_duration.read();
  for (std::size_t i = 0; i < s.losses.all.size(); ++i) s.losses.all[i] = g.losses.all[i].get();
  s.holds = g.holds.get();
  s.waiters = g.waiters.get();
  return s;
}

template <class Key>
void copy(stats_by<Key, std::uint64_t>& to, const stats_by<Key, cell>& from) noexcept {
  for (std::size_t i = 0; i < to.all.size(); ++i) to.all[i] = from.all[i].get();
}

std::unique_ptr<group> made(std::string_view name) {
  auto g = std::make_unique<group>();
  g->name = name;
  return g;
}

}  // namespace

group& board::group_of(std::string_view name) {
  if (name.empty()) return ungrouped_;
  const std::lock_guard lock{mutex_};
  const auto at = std::ranges::find(named_, name, [](const auto& g) { return std::string_view{g->name}; });
  if (at != named_.end()) return **at;
  if (name != other && named_.size() < groups_max) return *named_.emplace_back(made(name));
  if (!other_) other_ = made(other);
  return *other_;
}

client_stats board::read() const {
  client_stats s;
  {
    const std::lock_guard lock{mutex_};
    s.groups.reserve(named_.size() + 2);
    s.groups.push_back(shown(ungrouped_));
    for (const auto& g : named_) s.groups.push_back(shown(*g));
    if (other_) s.groups.push_back(shown(*other_));
  }
  for (std::size_t i = 0; i < s.request_duration.all.size(); ++i) {
    for (std::size_t how = 0; how < s.request_duration.all[i].all.size(); ++how) {
      s.request_duration.all[i].all[how] = request_duration_.all[i].all[how].read();
    }
  }
  s.renewal_lag = renewal_lag_.read();
  s.renewal_remaining = renewal_remaining_.read();
  s.remaining_min = remaining_min_.get();
  copy(s.reconnects, reconnects_);
  copy(s.over_limit, over_limit_);
  return s;
}

}  // namespace tyer::stats
