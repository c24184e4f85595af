#include "engines/etcd/dues.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd {

namespace {

constexpr std::chrono::milliseconds late{200};
constexpr std::chrono::milliseconds again_after{500};  // when nobody has answered

}  // namespace

void dues::set(const std::string& key, std::int64_t modified, time_point at) {
  const std::lock_guard lock{mutex_};
  if (closed_) return;
  put(key, modified, at);
  if (at < armed_) arm(at);
}

bool dues::put_off(const std::string& key, std::int64_t modified, time_point at) {
  const std::lock_guard lock{mutex_};
  if (!all_.contains(key)) return false;
  put(key, modified, at);
  if (at < armed_) arm(at);
  return true;
}

void dues::put(const std::string& key, std::int64_t modified, time_point at) {
  const auto [where, fresh] = all_.try_emplace(key);
  if (!fresh) times_.erase(where->second.place);
  try {
    where->second = {modified, times_.emplace(at, &where->first)};
  } catch (...) {
    all_.erase(where);
    throw;
  }
}

void dues::forget(const std::string& key) {
  const std::lock_guard lock{mutex_};
  const auto at = all_.find(key);
  if (at == all_.end()) return;
  times_.erase(at->second.place);
  all_.erase(at);
}

bool dues::awaits(const std::string& key) const {
  const std::lock_guard lock{mutex_};
  return all_.contains(key);
}

void dues::close() {
  const std::lock_guard lock{mutex_};
  closed_ = true;
  times_.clear();
  all_.clear();
}

void dues::arm(time_point at) {
  armed_ = at;
  wire::after(sweeper_->loop(), at - clock_.now(), [weak = weak_from_this(), at] {
    const auto self = weak.lock();
    if (!self) return;
    {
      const std::lock_guard lock{self->mutex_};
      if (self->armed_ == at) self->armed_ = time_point::max();
    }
    self->sweep();
  });
}

void dues::ring_if_late() {
  {
    const std::lock_guard lock{mutex_};
    const auto now = clock_.now();
    if (times_.empty() || times_.begin()->first > now - late) return;
    if (armed_ <= now - late) armed_ = time_point::max();
  }
  sweep();
}

std::vector<sweeper::one> dues::take_some() {
  std::vector<sweeper::one> some;
  if (closed_ || times_.empty() || under_way_ >= sweeps_max || !sweeper_->aimed()) return some;
  const auto now = clock_.now();
  if (const auto next = std::max(times_.begin()->first, rests_until_); next > now) {
    if (next < armed_) arm(next);
    return some;
  }
  while (!times_.empty() && times_.begin()->first <= now && some.size() < keys_at_once) {
    const auto at = all_.find(*times_.begin()->second);
    some.push_back({at->first, at->second.modified});
    times_.erase(times_.begin());
    all_.erase(at);
  }
  ++under_way_;
  return some;
}

// The mutex is not held while it is asked: whoever acquires or renews meanwhile does not wait for that.
void dues::sweep() {
  for (;;) {
    std::vector<sweeper::one> some;
    {
      const std::lock_guard lock{mutex_};
      some = take_some();
      if (some.empty()) return;
    }
    auto asked = some;
    sweeper_->sweep(std::move(some), within_,
                    [weak = weak_from_this(), asked = std::move(asked)](
                        const wire::status& s, std::vector<sweeper::verdict> verdicts) mutable {
                      if (const auto self = weak.lock()) self->came_back(s, std::move(asked), std::move(verdicts));
                    });
  }
}

// What was set anew meanwhile has its own time.
void dues::came_back(const wire::status& s, std::vector<sweeper::one> asked, std::vector<sweeper::verdict> verdicts) {
  {
    const std::lock_guard lock{mutex_};
    --under_way_;
    if (!s.ok() && !closed_) {
      const auto now = clock_.now();
      rests_until_ = now + again_after;
      for (const auto& o : asked) {
        if (!all_.contains(o.key)) put(o.key, o.modified, now);
      }
    }
  }
  s.ok() ? listener_.swept(std::move(verdicts)) : listener_.failed(s);
  sweep();
}

}  // namespace tyer::etcd
