// A request whose answer was lost may have been done, or be done later: then a key is there that nobody has.
#include "engines/etcd/frame.hpp"

#include <algorithm>

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

// How long after its deadline a write may still be done: etcd gives up after seven seconds itself.
constexpr auto late_writes_max = 15s;
constexpr auto look_again_after = 500ms;

}  // namespace

time_point frame::begin_doubt(const std::string& key, time_point deadline) {
  auto& until = perhaps_written_[key];
  const auto before = until;
  until = std::max(until, deadline + late_writes_max);
  return before;
}

void frame::end_doubt(const std::string& key, time_point before) {
  if (before > now()) {
    perhaps_written_[key] = before;
  } else {
    perhaps_written_.erase(key);
  }
}

// It is not there: but a server that stood still, or was cut off, may write it when it goes on.
void frame::look_later(const std::string& key) {
  const auto at = perhaps_written_.find(key);
  if (at == perhaps_written_.end() || closed() || overdue_->awaits(key)) return;
  const auto now = around().clock->now();
  if (at->second <= now && link_.is_up()) {
    perhaps_written_.erase(at);
    return;
  }
  overdue_->set(key, 0, now + look_again_after);
}

}  // namespace tyer::etcd
