#include "engines/compose/redlock/quorum_attempt.hpp"

#include <tyer/error.hpp>

#include <algorithm>

namespace tyer::redlock {

std::size_t quorum_attempt::count(vote v) const noexcept {
  return static_cast<std::size_t>(std::ranges::count(nodes_, v, &node::said));
}

std::uint64_t quorum_attempt::largest() const noexcept {
  std::uint64_t part = 0;
  for (const node& n : nodes_) part = std::max(part, n.said == vote::granted ? n.part : 0);
  return part;
}

void quorum_attempt::on_granted(std::size_t i, std::uint64_t part, time_point now) {
  node& n = nodes_[i];
  if (over() || n.said != vote::none) return;
  n.said = vote::granted;
  n.part = part;
  if (state_ == state::lifting && part < part_) {
    n.lifting = true;
    lifts_.push_back(i);
  }
  decide(now);
}

void quorum_attempt::on_busy(std::size_t i, milliseconds left, time_point now) {
  node& n = nodes_[i];
  if (over() || n.said != vote::none) return;
  n.said = vote::busy;
  n.left = left;
  decide(now);
}

void quorum_attempt::on_failure(std::size_t i, failure f, time_point now) {
  node& n = nodes_[i];
  if (over() || n.said != vote::none) return;
  n.said = vote::failed;
  n.wrong = std::move(f);
  decide(now);
}

void quorum_attempt::on_lifted(std::size_t i, std::uint64_t part, bool holding, time_point now) {
  node& n = nodes_[i];
  if (state_ != state::lifting || part != part_ || !n.lifting) return;
  n.lifting = false;
  if (holding) {
    n.part = part;
  } else {
    n.said = vote::failed;
    n.wrong = {why::unknown, make_error_code(errc::unavailable), "it lost the lock while the token was agreed on"};
  }
  decide(now);
}

void quorum_attempt::decide(time_point now) {
  if (state_ == state::locking) decide_locking(now);
  if (state_ == state::lifting) decide_lifting(now);
}

void quorum_attempt::decide_locking(time_point now) {
  if (count(vote::granted) >= enough()) {
    state_ = state::lifting;
    return settle_on(plan_.told != 0 ? plan_.told : largest());
  }
  if (straggle_until_ == time_point::max() && answered() >= enough()) straggle_until_ = now + plan_.straggle;
  const bool hopeless = count(vote::granted) + count(vote::none) < enough();
  // Only a majority of answers can tell whether somebody else has the lock or too few nodes are up.
  const bool explained = answered() >= enough() || answered() + count(vote::none) < enough();
  if ((hopeless && explained) || now >= due()) state_ = state::lost;
}

void quorum_attempt::decide_lifting(time_point now) {
  const auto written = [&](const node& n) { return n.said == vote::granted && n.part == part_; };
  const auto may_be = [&](const node& n) {
    return n.said == vote::none || (n.said == vote::granted && n.part < part_);
  };
  const auto done = static_cast<std::size_t>(std::ranges::count_if(nodes_, written));
  if (now >= plan_.give_up_at || now >= plan_.sent + good_for(plan_.ttl)) {
    state_ = state::lost;
  } else if (done >= enough()) {
    state_ = state::won;
  } else if (done + static_cast<std::size_t>(std::ranges::count_if(nodes_, may_be)) < enough()) {
    // Nodes that granted late, or again, may have a larger part: then that is the largest.
    const bool higher = count(vote::granted) >= enough() && largest() > part_;
    if (!higher) {
      state_ = state::lost;
      return;
    }
    settle_on(largest());
    decide_lifting(now);
  }
}

void quorum_attempt::settle_on(std::uint64_t part) {
  part_ = part;
  lifts_.clear();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    node& n = nodes_[i];
    if (n.said != vote::granted) continue;
    n.lifting = n.part < part_;
    if (n.lifting) lifts_.push_back(i);
  }
}

time_point quorum_attempt::due() const noexcept {
  if (over()) return time_point::max();
  return state_ == state::locking ? std::min(plan_.give_up_at, straggle_until_) : plan_.give_up_at;
}

std::variant<milliseconds, failure> quorum_attempt::verdict(const std::vector<std::string>& names) const {
  if (count(vote::busy) > 0 && answered() >= enough()) {
    milliseconds left = milliseconds::max();
    for (const node& n : nodes_) left = n.said == vote::busy ? std::min(left, n.left) : left;
    return left;
  }
  failure f{why::not_sent, make_error_code(errc::unavailable),
            std::to_string(enough()) + " of " + std::to_string(plan_.nodes) + " nodes are needed"};
  std::size_t refusals = 0;
  const failure* refusal = nullptr;
  const bool silent = count(vote::failed) <= plan_.nodes - enough();  // else the failed nodes explain it
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const node& n = nodes_[i];
    if (n.said == vote::failed && !core::passing(n.wrong.kind)) {
      ++refusals;
      refusal = &n.wrong;
    }
    const bool denied = n.said == vote::busy || (n.said == vote::failed && n.wrong.kind != why::unknown);
    if (!denied) f.kind = why::unknown;
    if (n.said == vote::none && silent) f.words += "; " + names[i] + ": no answer yet";
    if (n.said == vote::failed) f.words += "; " + names[i] + ": " + n.wrong.words;
  }
  // Without the nodes that refused there is no majority: a retry does not help.
  if (refusals > plan_.nodes - enough()) f = {refusal->kind, refusal->code, refusal->words};
  return f;
}

}  // namespace tyer::redlock
