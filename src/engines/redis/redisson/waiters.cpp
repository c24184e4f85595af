#include "engines/redis/redisson/waiters.hpp"

#include <algorithm>
#include <utility>

namespace tyer::redis::redisson {

void waiters::join(const core::id& who, std::string channel) {
  const auto [at, fresh] = channel_of_.try_emplace(who, std::move(channel));
  if (fresh) waiting_[at->second].push_back(who);
}

std::optional<std::string> waiters::leave(const core::id& who) {
  auto node = channel_of_.extract(who);
  if (node.empty()) return std::nullopt;
  const auto at = waiting_.find(node.mapped());
  std::erase(at->second, who);
  if (!at->second.empty()) return std::nullopt;
  waiting_.erase(at);
  return std::move(node.mapped());
}

const std::string* waiters::channel_of(const core::id& who) const {
  const auto at = channel_of_.find(who);
  return at == channel_of_.end() ? nullptr : &at->second;
}

std::vector<core::id> waiters::of(const std::string& channel) const {
  const auto at = waiting_.find(channel);
  return at == waiting_.end() ? std::vector<core::id>{} : at->second;
}

}  // namespace tyer::redis::redisson
