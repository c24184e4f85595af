#include "engines/etcd/wire/channel.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd::wire {

namespace {

using namespace std::chrono_literals;

std::string authority_of(const core::endpoint& to) {
  const bool six = to.host.find(':') != to.host.npos && to.host.front() != '[';
  return (six ? '[' + to.host + ']' : to.host) + ':' + std::to_string(to.port);
}

}  // namespace

channel::channel(loop::body& home, const core::endpoint& to, const config& c, std::chrono::milliseconds attempt)
    : home_(&home),
      to_(to),
      config_(c),
      attempt_(std::clamp<std::chrono::milliseconds>(attempt, 500ms, 60s)),
      traffic_(authority_of(to), c.tls) {
  home.join(*this);
}

channel::~channel() {
  if (home_ == nullptr) return;
  const loop::turn mine{*home_};
  disconnect();
  home_->leave(*this);
}

void channel::leave_home() {
  disconnect();
  traffic_.drop();
  home_ = nullptr;
}

void channel::begin_attempt(time_point now) {
  connection_ = std::make_shared<connection>(home_->context(), to_, config_, static_cast<connection::host&>(*this));
  traffic_.arriving();
  arrive_by_ = now + connection_->allowed(attempt_);
  connection_->start();
}

void channel::disconnect() noexcept {
  connected_ = false;
  arrive_by_ = time_point::max();
  if (const auto old = std::exchange(connection_, nullptr)) old->end();
}

// One write at a time; whatever is asked for meanwhile leaves together with the next.
void channel::flush(time_point now) {
  if (traffic_.wants_connection()) return begin_attempt(now);
  if (!connected_ || connection_->is_writing()) return;
  if (!out_ || out_.use_count() > 1) out_ = std::make_shared<std::string>();
  out_->clear();
  if (!traffic_.output(*out_, now)) return disconnect();
  if (!out_->empty()) connection_->write(out_);
}

void channel::tick(time_point now) {
  if (now >= arrive_by_ && connection_) {
    if (!connection_->skip_address()) return broken(connection_->too_slow());
    arrive_by_ = now + attempt_;  // until it has begun with the next
  }
  if (!traffic_.on_time(now)) disconnect();
}

time_point channel::due() const { return std::min(arrive_by_, traffic_.due()); }

void channel::broken(const std::string& words) noexcept {
  if (!connection_) return;
  disconnect();
  traffic_.lost(words);
}

void channel::on_step() { arrive_by_ = home_->now() + connection_->allowed(attempt_); }

void channel::on_connected() {
  const auto now = home_->now();
  traffic_.connected(now);
  connected_ = true;
  flush(now);
}

void channel::on_read(std::string_view bytes) {
  const auto now = home_->now();
  if (!traffic_.feed(bytes, now)) return disconnect();
  if (traffic_.now() == traffic::state::up) arrive_by_ = time_point::max();
  flush(now);
}

void channel::on_written() { flush(home_->now()); }

void channel::on_lost(const std::string& words) { broken(words); }

}  // namespace tyer::etcd::wire
