#include "engines/sql/held_session.hpp"

#include <algorithm>

namespace tyer::sql {

std::vector<id> held_session::begin() {
  std::vector<id> gone;
  gone.reserve(holds_.size());
  for (const auto& [who, h] : holds_) gone.push_back(who);
  *this = {};
  return gone;
}

// Shorter only if there is nothing that relies on it.
std::optional<milliseconds> held_session::must_be_told(milliseconds ttl) const {
  const bool free = holds_.empty() && taking_.empty();
  if (!is_sure_) return free ? ttl : std::max(ttl, length_);
  if (length_ == ttl || (length_ > ttl && !free)) return std::nullopt;
  return ttl;
}

void held_session::told(milliseconds length, time_point now) {
  if (length > length_ || !is_sure_) as_long_since_ = now;
  length_ = length;
  is_sure_ = true;
}

time_point held_session::relax_due() const noexcept {
  if (length_.count() == 0 || !holds_.empty() || !taking_.empty()) return time_point::max();
  return said_ + length_ / 3;
}

void held_session::add(const id& who, hold h) {
  const auto until = h.until;
  by_name_[h.name] = who;
  ends_.emplace(until, who);
  holds_.emplace(who, std::move(h));
}

const held_session::hold* held_session::find(const id& who) const {
  const auto at = holds_.find(who);
  return at != holds_.end() ? &at->second : nullptr;
}

const held_session::hold* held_session::find(const id& who, const std::string& name) const {
  const auto* h = find(who);
  return h != nullptr && h->name == name ? h : nullptr;
}

void held_session::keep(const id& who, milliseconds ttl, time_point until) {
  const auto at = holds_.find(who);
  if (at == holds_.end()) return;
  hold& h = at->second;
  h.ttl = std::max(h.ttl, ttl);
  if (until <= h.until) return;
  auto end = ends_.extract({h.until, who});
  h.until = until;
  end.value().first = until;
  ends_.insert(std::move(end));
}

std::optional<held_session::hold> held_session::remove(const id& who) {
  auto node = holds_.extract(who);
  if (node.empty()) return std::nullopt;
  hold& h = node.mapped();
  ends_.erase({h.until, who});
  by_name_.erase(h.name);
  return std::move(h);
}

time_point held_session::next_end() const noexcept { return ends_.empty() ? time_point::max() : ends_.begin()->first; }

std::vector<id> held_session::over(time_point now) const {
  std::vector<id> all;
  for (auto at = ends_.begin(); at != ends_.end() && at->first <= now; ++at) all.push_back(at->second);
  return all;
}

}  // namespace tyer::sql
