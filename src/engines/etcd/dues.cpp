#include "engines/etcd/dues.hpp"

#include <algorithm>
#include <vector>

namespace tyer::etcd {

namespace {

constexpr std::chrono::milliseconds late{200};

}  // namespace

void dues::set(const std::string& key, std::int64_t modified, time_point at) {
  const std::lock_guard lock{mutex_};
  if (closed_) return;
  all_[key] = {at, modified};
  if (at < armed_) arm(at);
}

void dues::forget(const std::string& key) {
  const std::lock_guard lock{mutex_};
  all_.erase(key);
}

bool dues::awaits(const std::string& key) const {
  const std::lock_guard lock{mutex_};
  return all_.contains(key);
}

void dues::close() {
  const std::lock_guard lock{mutex_};
  closed_ = true;
  all_.clear();
}

void dues::arm(time_point at) {
  armed_ = at;
  wire::after(at - clock_.now(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->rang();
  });
}

time_point dues::late_at() const {
  const std::lock_guard lock{mutex_};
  return closed_ || armed_ == time_point::max() ? time_point::max() : armed_ + late;
}

void dues::ring_if_late() {
  const std::lock_guard lock{mutex_};
  if (armed_ != time_point::max() && armed_ + late <= clock_.now()) take_due();
}

void dues::rang() {
  const std::lock_guard lock{mutex_};
  take_due();
}

void dues::take_due() {
  std::vector<std::pair<std::string, std::int64_t>> over;
  if (closed_) return;
  const auto now = clock_.now();
  armed_ = time_point::max();
  auto next = time_point::max();
  for (auto at = all_.begin(); at != all_.end();) {
    if (at->second.at > now) {
      next = std::min(next, at->second.at);
      ++at;
      continue;
    }
    over.emplace_back(at->first, at->second.modified);
    at = all_.erase(at);
  }
  for (const auto& [key, modified] : over) on_due_(key, modified);
  if (next < armed_) arm(next);
}

}  // namespace tyer::etcd
