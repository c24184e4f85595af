#include "engines/redis/cluster/wakeups.hpp"

#include "engines/redis/cluster/hash_slot.hpp"

#include <algorithm>
#include <utility>

namespace tyer::redis {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds sweep_every{250};
constexpr milliseconds pause_min{200}, pause_max{60'000};  // before listening is tried again
constexpr seconds link_unneeded_after{10};

}  // namespace

wakeups::wakeups(loop& l, const materials& m, master_of master, told tell)
    : loop_(&l), m_(&m), master_(std::move(master)), tell_(std::move(tell)) {
  loop_->join(*this);
}

void wakeups::waits(std::string_view key, const core::id& who, milliseconds how_long) {
  const auto tag = key.find('{');
  if (closing_ || tag == key.npos) return;
  const auto name = m_->inbox + std::string{key.substr(tag)};
  auto at = channels_.find(name);
  if (at == channels_.end()) {
    if (channels_.size() >= channels_max) return;
    at = channels_.emplace(name, channel{.slot = hash_slot(key), .waiters = {}}).first;
  }
  const auto now = m_->clock->now();
  auto& c = at->second;
  auto& until = c.waiters[who];
  until = std::max(until, now + how_long);
  if (c.at == nullptr && now >= c.again) listen(at->first, c);
  next_sweep_ = std::min(next_sweep_, now + sweep_every);
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
    if (master == nullptr || (c.at != nullptr && c.at->hears.server() == *master)) continue;
    leave(name, c);
    listen(name, c);
  }
}

void wakeups::on_heard(std::string_view, std::string_view message) { tell_(message); }

// What was said before is missed, so whoever waits asks once.
void wakeups::on_listening(std::string_view name) {
  const auto at = channels_.find(name);
  if (at == channels_.end()) return;
  at->second.pause = {};
  const auto waiters = at->second.waiters;
  for (const auto& [who, until] : waiters) tell_("w" + std::string{who.view()});
}

// The slot has moved, or the user may not: soon we know, or it will not change soon.
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
    if (c.waiters.empty()) {
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

// A connection is not destroyed while it calls back.
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
