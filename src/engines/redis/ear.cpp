#include "engines/redis/ear.hpp"

#include <utility>
#include <vector>

namespace tyer::redis {

namespace {

connection::settings for_listening(connection::settings s) {
  s.inbox.clear();
  s.purpose = connection::use::listening;
  return s;
}

}  // namespace

ear::ear(loop& l, connection::settings s, bool sharded) : sharded_(sharded), link_(l, for_listening(std::move(s))) {}

void ear::open(listener& l) {
  listener_ = &l;
  link_.open(*this);
}

void ear::listen(std::string_view channel) {
  const auto [at, fresh] = channels_.emplace(channel, state::wanted);
  if (fresh) ask(at->first, at->second);
}

void ear::unlisten(std::string_view channel) {
  const auto at = channels_.find(channel);
  if (at == channels_.end()) return;
  if (at->second != state::wanted && link_.is_up()) link_.unsubscribe(channel, sharded_);
  channels_.erase(at);
}

bool ear::listens(std::string_view channel) const {
  const auto at = channels_.find(channel);
  return at != channels_.end() && at->second == state::heard;
}

void ear::ask(std::string_view channel, state& s) {
  if (!link_.is_up()) return;
  s = state::asked;
  link_.subscribe(channel, sharded_);
}

void ear::on_up(const engine::server_facts&) {
  for (auto& [channel, s] : channels_) ask(channel, s);
}

void ear::on_down(const engine::failure&) {
  for (auto& [channel, s] : channels_) s = state::wanted;
}

void ear::on_heard(std::string_view channel, std::string_view message) {
  if (channels_.contains(channel)) listener_->on_heard(channel, message);
}

void ear::on_listening(std::string_view channel) {
  const auto at = channels_.find(channel);
  if (at == channels_.end()) return;
  at->second = state::heard;
  listener_->on_listening(channel);
}

void ear::on_no_longer_listening(std::string_view channel) {
  const auto at = channels_.find(channel);
  if (at == channels_.end() || at->second != state::heard) return;  // it is what unlisten() asked for
  channels_.erase(at);
  listener_->on_deaf(channel);
}

// The server does not say which one it means.
void ear::on_not_allowed(std::string_view) {
  std::vector<std::string> refused;
  std::erase_if(channels_, [&](const auto& c) {
    if (c.second == state::asked) refused.push_back(c.first);
    return c.second == state::asked;
  });
  for (const auto& channel : refused) listener_->on_deaf(channel);
}

}  // namespace tyer::redis
