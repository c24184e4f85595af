#include "engines/etcd/client/looks.hpp"

namespace tyer::etcd {

std::optional<looks::id> looks::take_due(time_point now) {
  if (next() > now || due_.empty()) return std::nullopt;
  const auto who = due_.begin()->second;
  due_.erase(due_.begin());
  return who;
}

}  // namespace tyer::etcd
