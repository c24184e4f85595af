#include "engines/redis/connection/subscriber.hpp"

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

subscriber::subscriber(loop& l, connection::settings s, bool sharded)
    : sharded_(sharded), link_(l, for_listening(std::move(s))) {}

void subscriber::open(listener& l) {
  listener_ = &l;
  link_.open(*this);
}

void subscriber::listen(std::string_view channel) {
  const auto at = channels_.try_emplace(std::string{channel}).first;
  if (!std::exchange(at->second.wanted, true)) ask(at->first, at->second);
}

void subscriber::unlisten(std::string_view channel) {
  const auto at = channels_.find(channel);
  if (at == channels_.end() || !std::exchange(at->second.wanted, false)) return;
  if (std::exchange(at->second.now, state::silent) != state::silent && link_.is_up()) {
    ++at->second.unanswered;
    link_.unsubscribe(channel, sharded_);
  }
  if (at->second.unanswered == 0) channels_.erase(at);
}

bool subscriber::listens(std::string_view channel) const {
  const auto at = channels_.find(channel);
  return at != channels_.end() && at->second.now == state::heard;
}

void subscriber::ask(std::string_view channel, place& p) {
  if (!link_.is_up()) return;
  p.now = state::asked;
  ++p.unanswered;
  link_.subscribe(channel, sharded_);
}

void subscriber::on_up(const engine::server_facts&) {
  for (auto& [channel, p] : channels_) ask(channel, p);
}

void subscriber::on_down(const engine::failure&) {
  std::erase_if(channels_, [](const auto& c) { return !c.second.wanted; });
  for (auto& [channel, p] : channels_) p = {.wanted = true};
}

void subscriber::on_heard(std::string_view channel, std::string_view message) {
  const auto at = channels_.find(channel);
  if (at != channels_.end() && at->second.wanted) listener_->on_heard(channel, message);
}

// One of our requests was answered. Only the answer to the last request counts.
void subscriber::answered(places::iterator at) {
  place& p = at->second;
  if (p.unanswered > 0) --p.unanswered;
  if (p.unanswered > 0) return;
  if (!p.wanted) {
    channels_.erase(at);
    return;
  }
  p.now = state::heard;
  listener_->on_listening(std::string{at->first});
}

void subscriber::on_listening(std::string_view channel) {
  if (const auto at = channels_.find(channel); at != channels_.end()) answered(at);
}

void subscriber::on_no_longer_listening(std::string_view channel) {
  const auto at = channels_.find(channel);
  if (at == channels_.end()) return;
  if (at->second.unanswered > 0) return answered(at);  // the answer to unlisten()
  channels_.erase(at);
  listener_->on_deaf(channel);
}

// The server does not say which channel it means.
void subscriber::on_not_allowed(std::string_view) {
  std::vector<std::string> refused;
  std::erase_if(channels_, [&](const auto& c) {
    if (c.second.now == state::asked) refused.push_back(c.first);
    return c.second.now == state::asked;
  });
  for (const auto& channel : refused) listener_->on_deaf(channel);
}

}  // namespace tyer::redis
