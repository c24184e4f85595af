#include "engines/etcd/client/overdue.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd {

namespace {

constexpr std::chrono::milliseconds late{200};
constexpr std::chrono::milliseconds rest_after_silence{500};  // when nobody has answered

}  // namespace

void overdue::set(const std::string& key, std::int64_t modified, time_point at) {
  const std::lock_guard lock{mutex_};
  if (closed_) return;
  put(key, modified, at);
  if (at < armed_) arm(at);
}

bool overdue::put_off(const std::string& key, std::int64_t modified, time_point at) {
  const std::lock_guard lock{mutex_};
  if (!all_.contains(key)) return false;
  put(key, modified, at);
  if (at < armed_) arm(at);
  return true;
}

void overdue::put(const std::string& key, std::int64_t modified, time_point at) {
  const auto [where, fresh] = all_.try_emplace(key);
  if (!fresh) times_.erase(where->second.place);
  try {
    where->second = {modified, times_.emplace(at, &where->first)};
  } catch (...) {
    all_.erase(where);
    throw;
  }
}

void overdue::forget(const std::string& key) {
  const std::lock_guard lock{mutex_};
  const auto at = all_.find(key);
  if (at == all_.end()) return;
  times_.erase(at->second.place);
  all_.erase(at);
}

bool overdue::awaits(const std::string& key) const {
  const std::lock_guard lock{mutex_};
  return all_.contains(key);
}

void overdue::close() {
  const std::lock_guard lock{mutex_};
  closed_ = true;
  times_.clear();
  all_.clear();
}

void overdue::arm(time_point at) {
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

void overdue::ring_if_late() {
  {
    const std::lock_guard lock{mutex_};
    const auto now = clock_.now();
    if (times_.empty() || times_.begin()->first > now - late) return;
    if (armed_ <= now - late) armed_ = time_point::max();
  }
  sweep();
}

bool overdue::take_some(errand& e) {
  if (closed_ || times_.empty() || under_way_ >= sweeps_max || !sweeper_->aimed()) return false;
  const auto now = clock_.now();
  if (const auto next = std::max(times_.begin()->first, rests_until_); next > now) {
    if (next < armed_) arm(next);
    return false;
  }
  while (!times_.empty() && times_.begin()->first <= now && e.taken_.size() < keys_at_once) {
    auto key = all_.extract(*times_.begin()->second);
    e.taken_.push_back({std::move(key), times_.extract(times_.begin())});
  }
  e.under_way_ = true;
  ++under_way_;
  return true;
}

// The mutex is not held while it is asked: whoever acquires or renews meanwhile does not wait for that.
void overdue::sweep() {
  for (;;) {
    auto e = std::make_shared<errand>(weak_from_this());
    {
      const std::lock_guard lock{mutex_};
      if (!take_some(*e)) return;
    }
    std::vector<sweeper::one> all;
    for (const auto& t : e->taken_) all.push_back({t.key.key(), t.key.mapped().modified});
    sweeper_->sweep(std::move(all), within_,
                    [weak = weak_from_this(), e = std::move(e)](const wire::status& s,
                                                                std::vector<sweeper::verdict> verdicts) mutable {
                      if (const auto self = weak.lock()) self->came_back(s, std::move(e), std::move(verdicts));
                    });
  }
}

void overdue::came_back(const wire::status& s, std::shared_ptr<errand> e, std::vector<sweeper::verdict> verdicts) {
  {
    const std::lock_guard lock{mutex_};
    --under_way_;
    e->under_way_ = false;
  }
  s.ok() ? listener_.swept(std::move(verdicts), std::move(e)) : listener_.failed(s);
  e = nullptr;
  sweep();
}

// What was set anew meanwhile has its own time.
void overdue::ended(errand& e) noexcept {
  const std::lock_guard lock{mutex_};
  if (e.under_way_) --under_way_;
  bool again = false;
  for (auto& t : e.taken_) {
    if (t.key.empty() || closed_ || all_.contains(t.key.key())) continue;
    again = true;
    t.time.key() = clock_.now();
    t.key.mapped().place = times_.insert(std::move(t.time));
    all_.insert(std::move(t.key));
  }
  if (!again) return;
  rests_until_ = clock_.now() + rest_after_silence;
  try {
    if (rests_until_ < armed_) arm(rests_until_);
  } catch (...) {  // then ring_if_late()
    armed_ = time_point::max();
  }
}

overdue::errand::~errand() {
  if (const auto home = of_.lock()) home->ended(*this);
}

}  // namespace tyer::etcd
