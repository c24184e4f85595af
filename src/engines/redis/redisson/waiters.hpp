// Which waiters of this client wait for which channel: a channel stays subscribed while somebody waits.
#pragma once

#include "core/id.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tyer::redis::redisson {

class waiters {
 public:
  // Idempotent.
  void join(const core::id&, std::string channel);
  // The channel, if nobody waits for it any more.
  std::optional<std::string> leave(const core::id&);

  // Null: it does not wait.
  const std::string* channel_of(const core::id&) const;
  // A copy, since a waiter that is woken may leave.
  std::vector<core::id> of(const std::string& channel) const;

 private:
  std::unordered_map<core::id, std::string, core::id_hash> channel_of_;
  std::unordered_map<std::string, std::vector<core::id>> waiting_;
};

}  // namespace tyer::redis::redisson
