#include "engines/redis/redisson/announcements.hpp"

#include <algorithm>
#include <utility>

namespace tyer::redis::redisson {

namespace {

constexpr std::chrono::seconds post_unneeded_after{10};

}  // namespace

announcements::announcements(loop& l, const connection_factory& m, listener& who) : loop_(&l), m_(m), listener_(&who) {
  loop_->join(*this);
}

announcements::post& announcements::at(const core::endpoint& server) {
  const auto known =
      std::find_if(posts_.begin(), posts_.end(), [&](const auto& p) { return p->ears.front()->server() == server; });
  if (known != posts_.end()) return **known;
  auto made = std::make_unique<post>();
  const bool sharded_too = m_.where.deployment == shape::cluster;
  for (const bool sharded : {false, true}) {
    if (sharded && !sharded_too) continue;
    made->ears.push_back(std::make_unique<subscriber>(*loop_, m_.at(server, connection::use::listening), sharded));
  }
  made->open = made->ears.size();
  posts_.push_back(std::move(made));
  for (auto& ear : posts_.back()->ears) ear->open(*this);
  return *posts_.back();
}

void announcements::listen(const std::string& channel, const core::endpoint& server) {
  if (closing_) return;
  post& p = at(server);
  if (const auto known = channels_.find(channel); known == channels_.end() || known->second != &p) {
    unlisten(channel);
    channels_.emplace(channel, &p);
    ++p.channels;
  }
  for (auto& ear : p.ears) ear->listen(channel);  // again, if it was refused
}

void announcements::unlisten(const std::string& channel) {
  const auto place = channels_.find(channel);
  if (place == channels_.end()) return;
  post& p = *place->second;
  channels_.erase(place);
  --p.channels;
  p.needed = m_.clock->now();
  for (auto& ear : p.ears) ear->unlisten(channel);
}

void announcements::leave(std::unique_ptr<post> p) {
  for (auto& ear : p->ears) {
    ear->close([this, which = p.get()] {
      --which->open;
      end_when_closed();
    });
  }
  leaving_.push_back(std::move(p));
}

void announcements::end_when_closed() {
  const auto is_closed = [](const auto& p) { return p->open == 0; };
  if (closed_ && std::all_of(leaving_.begin(), leaving_.end(), is_closed)) std::exchange(closed_, nullptr)();
}

// Connections are destroyed here, since they must not be destroyed in their own callbacks.
void announcements::tick(time_point t) {
  if (closing_) return;
  std::erase_if(leaving_, [](const auto& p) { return p->open == 0; });
  for (auto& p : posts_) {
    if (p->channels == 0 && t >= p->needed + post_unneeded_after) leave(std::move(p));
  }
  std::erase(posts_, nullptr);
}

engine::time_point announcements::due() const {
  auto next = time_point::max();
  if (closing_) return next;
  for (const auto& p : posts_) {
    if (p->channels == 0) next = std::min(next, p->needed + post_unneeded_after);
  }
  return next;
}

void announcements::close(core::function<void()> done) {
  closing_ = true;
  closed_ = std::move(done);
  channels_.clear();
  for (auto& p : std::exchange(posts_, {})) leave(std::move(p));
  end_when_closed();
}

}  // namespace tyer::redis::redisson
