#include "engines/redis/deployment/cluster/wakeups.hpp"

#include "engines/redis/deployment/cluster/hash_slot.hpp"

#include <algorithm>
#include <utility>

namespace tyer::redis {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds sweep_every{250};
constexpr milliseconds pause_min{200}, pause_max{60'000};  // before a subscription is retried
constexpr seconds link_unneeded_after{10};

}  // namespace

wakeups::wakeups(loop& l, const connection_factory& m, master_of master, connection::listener*& outer)
    : loop_(&l), m_(&m), master_(std::move(master)), outer_(&outer) {
  loop_->join(*this);
}

void wakeups::waits(std::string_view key, const core::id& who, time_point sent, milliseconds how_long) {
  if (closing_) return;
  const auto name = name_of(key);
  auto at = channels_.find(name);
  if (at == channels_.end()) {
    if (channels_.size() >= channels_max) return;
    at = channels_.emplace(name, channel{.key = std::string{key}, .slot = hash_slot(key), .waiters = {}}).first;
  }
  const auto now = m_->clock->now();
  auto& c = at->second;
  const auto [mine, fresh] = c.waiters.try_emplace(who, now + how_long);
  mine->second = std::max(mine->second, now + how_long);
  c.until = std::max(c.until, mine->second);
  if (c.at == nullptr && now >= c.again) listen(at->first, c);
  next_sweep_ = std::min(next_sweep_, now + sweep_every);
  // The channel is subscribed already, but this id may have got its turn before that: answers come on another connection.
  const bool listens = c.at != nullptr && c.at->hears.listens(name);
  if (fresh && listens && sent <= c.since) (*outer_)->on_unheard(c.key, who);
}

bool wakeups::waits_no_more(std::string_view key, const core::id& who) {
  const auto at = channels_.find(name_of(key));
  if (at == channels_.end() || at->second.waiters.erase(who) == 0) return false;
  return at->second.at == nullptr || !at->second.at->hears.listens(at->first);
}

wakeups::link& wakeups::link_to(const core::endpoint& master) {
  const auto known =
      std::find_if(links_.begin(), links_.end(), [&](const auto& l) { return l->hears.server() == master; });
  if (known != links_.end()) return **known;
  links_.push_back(std::make_unique<link>(*loop_, m_->at(master, connection::use::listening)));
  links_.back()->hears.open(*this);
  return *links_.back();
}

void wakeups::listen(const std::string& name, channel& c) {
  const auto* master = master_(c.slot);
  if (master == nullptr) return;
  c.at = &link_to(*master);
  ++c.at->channels;
  c.at->hears.listen(name);
}

void wakeups::leave(const std::string& name, channel& c) {
  if (c.at == nullptr) return;
  c.at->hears.unlisten(name);
  --c.at->channels;
  c.at = nullptr;
}

void wakeups::follow() {
  for (auto& [name, c] : channels_) {
    const auto* master = master_(c.slot);
    if (c.at == nullptr || master == nullptr || c.at->hears.server() == *master) continue;  // without one: see sweep()
    leave(name, c);
    listen(name, c);
  }
}

void wakeups::on_heard(std::string_view, std::string_view message) {
  if (!closing_) (*outer_)->on_message(message);
}

// Earlier messages were missed, so every waiter is checked.
void wakeups::on_listening(std::string_view name) {
  const auto at = channels_.find(name);
  if (closing_ || at == channels_.end()) return;
  auto& c = at->second;
  c.pause = {};
  c.since = m_->clock->now();
  for (const auto& [who, until] : c.waiters) (*outer_)->on_unheard(c.key, who);
}

// The slot has moved, which we learn soon, or the user has no permission, which will not change soon.
void wakeups::on_deaf(std::string_view name) {
  const auto at = channels_.find(name);
  if (at == channels_.end() || at->second.at == nullptr) return;
  auto& c = at->second;
  --c.at->channels;
  c.at = nullptr;
  c.pause = std::clamp(c.pause * 2, pause_min, pause_max);
  c.again = m_->clock->now() + c.pause;
}

void wakeups::sweep(time_point t) {
  for (auto at = channels_.begin(); at != channels_.end();) {
    auto& [name, c] = *at;
    std::erase_if(c.waiters, [t](const auto& w) { return w.second <= t; });
    if (c.until <= t) {
      leave(name, c);
      at = channels_.erase(at);
      continue;
    }
    if (c.at == nullptr && t >= c.again) listen(name, c);
    ++at;
  }
  for (auto& l : links_) {
    if (l->channels > 0) l->needed = t;
    if (l->channels > 0 || t - l->needed < link_unneeded_after) continue;
    l->hears.close([which = l.get()] { which->closed = true; });
    leaving_.push_back(std::move(l));
  }
  std::erase(links_, nullptr);
}

// Connections are destroyed here, since they must not be destroyed in their own callbacks.
void wakeups::tick(time_point t) {
  std::erase_if(leaving_, [](const auto& l) { return l->closed; });
  if (closing_ || t < next_sweep_) return;
  sweep(t);
  next_sweep_ = links_.empty() && channels_.empty() ? time_point::max() : t + sweep_every;
}

engine::time_point wakeups::due() const { return closing_ ? time_point::max() : next_sweep_; }

void wakeups::close() {
  closing_ = true;
  channels_.clear();
  for (auto& l : std::exchange(links_, {})) {
    l->hears.close([which = l.get()] { which->closed = true; });
    leaving_.push_back(std::move(l));
  }
}

}  // namespace tyer::redis
