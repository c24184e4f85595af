#include "engines/compose/redlock/nodes_up.hpp"

#include <tyer/error.hpp>

#include <algorithm>

namespace tyer::redlock {

namespace {

// More than the error of NTP, and more than the delay of an up() event.
constexpr milliseconds clocks_apart_most{500};

}  // namespace

failure nodes_up::not_yet() { return {why::not_sent, make_error_code(errc::unavailable), "not connected yet"}; }

std::size_t nodes_up::count(state s) const noexcept {
  return static_cast<std::size_t>(std::ranges::count(nodes_, s, &node::is));
}

nodes_up::news nodes_up::announce() noexcept {
  begun_ = up_ = true;
  told_down_ = false;
  announce_at_ = time_point::max();
  return news::up;
}

nodes_up::news nodes_up::on_up(std::size_t i, const engine::server_facts& facts, time_point now) {
  nodes_[i].is = state::up;
  nodes_[i].facts = facts;
  if (up_) return announce();
  return consider(now);
}

nodes_up::news nodes_up::on_down(std::size_t i, const failure& f, time_point now) {
  nodes_[i].is = state::down;
  nodes_[i].wrong = f;
  return consider(now);
}

nodes_up::news nodes_up::on_time(time_point now) { return now >= announce_at_ ? consider(now) : news::none; }

// When a majority is up, wait for the other nodes that are about to follow.
nodes_up::news nodes_up::consider(time_point now) {
  const bool enough = count(state::up) >= majority(nodes_.size());
  if (enough && !up_) {
    if (count(state::unknown) == 0 || now >= announce_at_) return announce();
    if (announce_at_ == time_point::max()) announce_at_ = now + (begun_ ? straggle_ : duration{first_straggle});
    return news::none;
  }
  if (enough) return news::none;
  announce_at_ = time_point::max();
  const bool hopeless = count(state::down) > nodes_.size() - majority(nodes_.size());
  if (!hopeless || told_down_) return news::none;
  up_ = false;
  told_down_ = true;
  return news::down;
}

engine::server_facts nodes_up::facts() const {
  engine::server_facts all;
  for (const node& n : nodes_) {
    if (!all.id.empty()) all.id += ',';
    if (n.is != state::up) {
      all.id += '-';
      continue;
    }
    all.id += n.facts.id;
    if (all.version.empty()) all.version = n.facts.version;
  }
  all.version += " on " + std::to_string(count(state::up)) + " of " + std::to_string(nodes_.size()) + " nodes";
  return all;
}

void nodes_up::note_clock(std::size_t i, std::chrono::microseconds shown, time_point then) {
  nodes_[i].ahead.reset();
  if (shown.count() == 0) return;
  nodes_[i].ahead = shown - std::chrono::duration_cast<std::chrono::microseconds>(then.time_since_epoch());
}

std::optional<engine::finding> nodes_up::clocks_apart(milliseconds remembered) const {
  const node *first = nullptr, *last = nullptr;
  for (const node& n : nodes_) {
    if (n.is != state::up || !n.ahead) continue;
    if (first == nullptr || *n.ahead < *first->ahead) first = &n;
    if (last == nullptr || *n.ahead > *last->ahead) last = &n;
  }
  if (first == last || *last->ahead - *first->ahead < clocks_apart_most) return std::nullopt;
  const auto apart = std::chrono::duration_cast<milliseconds>(*last->ahead - *first->ahead);
  const auto name = [&](const node* n) { return names_[static_cast<std::size_t>(n - nodes_.data())]; };
  const auto what =
      "the clock of " + name(last) + " is " + std::to_string(apart.count()) + " ms ahead of that of " + name(first);
  if (apart >= remembered) {
    return engine::finding{
        what + ", and a free lock remembers its last token for " + std::to_string(remembered.count()) + " ms",
        "set the clocks, or ?tombstone_ttl= to more than they differ: else tokens may run backwards", 2};
  }
  return engine::finding{
      what,
      "let NTP slew them: a clock that is set ends leases early, and a server that has lost its data "
      "goes on with tokens from its clock",
      1};
}

failure nodes_up::absence() const {
  failure f{why::not_sent, make_error_code(errc::unavailable),
            std::to_string(majority(nodes_.size())) + " of " + std::to_string(nodes_.size()) +
                " nodes are needed, and only " + std::to_string(count(state::up)) + " are there"};
  std::size_t refusals = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].is != state::down) continue;
    f.words += "; " + names_[i] + ": " + nodes_[i].wrong.words;
    if (!core::passing(nodes_[i].wrong.kind)) ++refusals;
    if (refusals > nodes_.size() - majority(nodes_.size())) f.kind = nodes_[i].wrong.kind;
  }
  return f;
}

}  // namespace tyer::redlock
