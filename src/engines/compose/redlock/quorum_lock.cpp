#include "engines/compose/redlock/quorum_lock.hpp"

#include <tyer/error.hpp>

#include <algorithm>

namespace tyer::redlock {

using engine::answer;
using engine::granted;
using verb = lease::release::verb;
using namespace std::chrono_literals;

namespace {

// How long the number of lost attempts is remembered between two tries.
constexpr duration losses_remembered_for = 5s;

}  // namespace

// ---- the attempt

void quorum_lock::acquire(milliseconds ttl, milliseconds not_after, time_point now) {
  if (attempt_ || undoing_) return;
  asked_ = true;
  ttl_ = ttl;
  not_after_ = not_after;
  sent_ = now;
  first_serial_ = serial_ + 1;
  attempt_.emplace(quorum_attempt::plan{.nodes = nodes_.size(),
                                        .sent = now,
                                        .ttl = ttl,
                                        .give_up_at = now + s_.request_timeout - s_.straggle,
                                        .straggle = s_.straggle,
                                        .told = now < held_until_ ? held_part_ : 0});
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].giving_back.reset();
    if (const failure* f = away(i)) {
      attempt_->on_failure(i, *f, now);
    } else if (nodes_[i].doubtful_until > now) {
      attempt_->on_failure(i, {why::not_sent, make_error_code(errc::unavailable), "an old release may be under way"},
                           now);
    } else {
      there.push_back(i);
    }
  }
  if (attempt_->over()) there.clear();  // too few
  for (const auto i : there) {
    ++nodes_[i].asks;
    nodes_[i].asked_at = now;
    requests_.push_back({i, node_request::kind::acquire, ++serial_});
  }
  act_on_attempt(now);
}

void quorum_lock::on_acquired(const node_request& asked, std::variant<answer, failure> said, time_point now) {
  const auto i = asked.node;
  node& n = nodes_[i];
  if (n.asks > 0) --n.asks;
  auto* const f = std::get_if<failure>(&said);
  const auto* const a = std::get_if<answer>(&said);
  const auto* const g = a != nullptr ? std::get_if<granted>(a) : nullptr;
  if (f != nullptr && f->kind == why::unknown) {
    // Twice: the node's clock is known to it only to within a round trip.
    n.unsettled_until = std::max(n.unsettled_until, n.asked_at + 2 * not_after_);
  }
  n.may_hold = n.may_hold || g != nullptr || n.unsettled_until > now;
  if (attempt_ && asked.serial >= first_serial_) {
    if (g != nullptr) {
      attempt_->on_granted(i, g->part, now);
    } else if (a != nullptr) {
      const auto* b = std::get_if<engine::busy>(a);
      attempt_->on_busy(i, b != nullptr ? b->hint : 1ms, now);
    } else {
      attempt_->on_failure(i, std::move(*f), now);
    }
    return act_on_attempt(now);
  }
  if (n.giving_back && n.asks == 0) {
    const auto not_before = n.unsettled_until > now ? n.unsettled_until : time_point::min();
    act(i, n.giving_back->on_settled(g != nullptr, not_before), now);
    end_undoing(now);
  }
}

void quorum_lock::on_lifted(const node_request& asked, std::variant<fate, failure> said, time_point now) {
  if (!attempt_ || asked.serial < first_serial_) return;
  const auto* const f = std::get_if<fate>(&said);
  attempt_->on_lifted(asked.node, asked.part, f != nullptr && *f == fate::holding, now);
  act_on_attempt(now);
}

void quorum_lock::act_on_attempt(time_point now) {
  for (const auto i : attempt_->take_lifts())
    requests_.push_back({i, node_request::kind::lift, ++serial_, attempt_->part()});
  if (attempt_->where() == quorum_attempt::state::lost) return lose(attempt_->verdict(s_.names), now);
  if (attempt_->where() != quorum_attempt::state::won) return;
  held_part_ = attempt_->part();
  held_until_ = sent_ + ttl_;
  losses_ = 0;
  acquired_ = won{sent_, held_part_, good_for(ttl_)};
  attempt_.reset();
}

void quorum_lock::lose(std::variant<milliseconds, failure> why, time_point now) {
  undoing_.emplace(undoing{{sent_, std::move(why)}, {}, now + s_.straggle});
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (attempt_->granted_by(i)) undoing_->waits_for.push_back(i);
    if (may_have_it(nodes_[i], now)) give_back(i, now);
  }
  attempt_.reset();
  held_part_ = 0;
  ++losses_;
  remembered_until_ = now + losses_remembered_for;
  end_undoing(now);
}

void quorum_lock::end_undoing(time_point now) {
  if (!undoing_) return;
  std::erase_if(undoing_->waits_for, [&](std::size_t i) {
    const auto& back = nodes_[i].giving_back;
    return !back || back->result() != lease::release::outcome::unknown;
  });
  if (!undoing_->waits_for.empty() && now < undoing_->until) return;
  acquired_ = std::move(undoing_->answer);
  undoing_.reset();
}

// ---- release

void quorum_lock::give_back(std::size_t i, time_point now) {
  node& n = nodes_[i];
  auto not_before = n.unsettled_until > now ? n.unsettled_until : time_point::min();
  if (n.asks > 0) not_before = n.asked_at + 2 * not_after_;
  n.given_up_at = now + std::max<duration>(ttl_, s_.request_timeout);
  n.giving_back.emplace(not_before, n.given_up_at);
  act(i, n.giving_back->start(), now);
}

void quorum_lock::act(std::size_t i, verb v, time_point now) {
  node& n = nodes_[i];
  if (v == verb::send && away(i) != nullptr) {
    v = n.giving_back->on_failure(now, why::not_sent);
    count(i, vote::failed, now);
  }
  switch (v) {
    case verb::none: return;
    case verb::send:
      n.release_serial = ++serial_;
      n.release_sent = now;
      return requests_.push_back({i, node_request::kind::release, n.release_serial});
    case verb::done:
      n.may_hold = n.may_hold && n.giving_back->result() == lease::release::outcome::unknown;
      return n.giving_back.reset();
  }
}

void quorum_lock::on_released(const node_request& asked, time_point sent, std::variant<fate, failure> said,
                              time_point now) {
  const auto i = asked.node;
  node& n = nodes_[i];
  const auto* const f = std::get_if<failure>(&said);
  if (f != nullptr && f->kind == why::unknown) n.doubtful_until = now + 2 * s_.request_timeout;
  if (asked.serial != n.release_serial) return;
  n.release_sent = time_point::max();
  vote v = vote::failed;
  if (f == nullptr) v = std::get<fate>(said) == fate::gone ? vote::gone : vote::holding;
  if (n.giving_back) {
    const auto next =
        f != nullptr ? n.giving_back->on_failure(now, f->kind) : n.giving_back->on_answer(sent, std::get<fate>(said));
    act(i, next, now);
  }
  end_undoing(now);
  count(i, v, now);
}

void quorum_lock::release(time_point now) {
  if (attempt_) {
    lose(failure{why::unknown, make_error_code(errc::outcome_unknown), "it was released while it was being acquired"},
         now);
  }
  held_part_ = 0;
  if (releasing_) return;
  releasing_.emplace(releasing{now, std::vector<vote>(nodes_.size(), vote::none), now + s_.request_timeout});
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto& back = nodes_[i].giving_back;
    if (back && back->where() == lease::release::state::sending) continue;
    if (may_have_it(nodes_[i], now)) {
      give_back(i, now);
    } else {
      count(i, vote::gone, now);
    }
  }
}

// A majority that has released it is enough. So is a majority of answers, but then it waits a moment for the others: what
// they still have would block the next holder.
void quorum_lock::count(std::size_t i, vote v, time_point now) {
  if (!releasing_) return;
  releasing& r = *releasing_;
  if (r.votes[i] == vote::none || r.votes[i] == vote::failed) r.votes[i] = v;
  const auto of = [&](vote x) { return static_cast<std::size_t>(std::ranges::count(r.votes, x)); };
  const auto enough = majority(nodes_.size());
  if (!r.counted && of(vote::holding) + of(vote::gone) >= enough) {
    r.counted = true;
    r.until = std::min(r.until, now + s_.straggle);
  }
  if (of(vote::holding) >= enough || of(vote::none) == 0 || now >= r.until) end_releasing();
}

void quorum_lock::end_releasing() {
  const releasing r = *std::exchange(releasing_, std::nullopt);
  std::size_t holding = 0, gone = 0;
  failure f{why::unknown, make_error_code(errc::unavailable), "released on too few nodes; without an answer:"};
  for (std::size_t i = 0; i < r.votes.size(); ++i) {
    holding += r.votes[i] == vote::holding ? 1 : 0;
    gone += r.votes[i] == vote::gone ? 1 : 0;
    if (r.votes[i] == vote::none || r.votes[i] == vote::failed) f.words += ' ' + s_.names[i];
  }
  const auto enough = majority(nodes_.size());
  if (holding + gone < enough) {
    released_ = released{r.sent, std::move(f)};
  } else {
    const bool was_held = holding > 0 && nodes_.size() - gone >= enough;
    released_ = released{r.sent, was_held ? fate::holding : fate::gone};
  }
}

// ---- what happens meanwhile

void quorum_lock::on_gone(time_point now) {
  if (attempt_) return;
  held_part_ = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].giving_back && may_have_it(nodes_[i], now)) give_back(i, now);
  }
}

// Like a request of an attempt, it may be executed late, and is then released like one.
void quorum_lock::win_back(std::size_t i, time_point now) {
  node& n = nodes_[i];
  const bool held = held_part_ != 0 && now < held_until_ && !attempt_ && !undoing_ && !releasing_;
  const bool settled = n.asks == 0 && !n.giving_back && n.unsettled_until <= now && n.doubtful_until <= now;
  if (!held || !settled || away(i) != nullptr) return;
  ++n.asks;
  n.asked_at = now;
  requests_.push_back({i, node_request::kind::acquire, ++serial_, held_part_});
}

void quorum_lock::on_up(std::size_t i, time_point now) {
  if (nodes_[i].giving_back) act(i, nodes_[i].giving_back->on_up(), now);
}

// Treats the missing answers as unknown.
void quorum_lock::give_up_answers(std::size_t i, time_point now) {
  node& n = nodes_[i];
  const failure unknown{why::unknown, make_error_code(errc::outcome_unknown), {}};
  while (n.asks > 0 && now - n.asked_at >= unanswered_after())
    on_acquired({i, node_request::kind::acquire, 0}, unknown, now);
  if (n.release_sent != time_point::max() && now - n.release_sent >= unanswered_after()) {
    const auto doubt = n.doubtful_until;  // not extended by this: the request can no longer be executed
    on_released({i, node_request::kind::release, n.release_serial}, n.release_sent, unknown, now);
    n.doubtful_until = doubt;
  }
}

void quorum_lock::on_time(time_point now) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    give_up_answers(i, now);
    node& n = nodes_[i];
    if (!n.giving_back) continue;
    if (away(i) == nullptr) {
      act(i, n.giving_back->on_time(now), now);
    } else if (now >= n.given_up_at) {  // has expired there by itself
      n.giving_back.reset();
      n.may_hold = false;
    }
  }
  if (attempt_) {
    attempt_->on_time(now);
    act_on_attempt(now);
  }
  end_undoing(now);
  if (releasing_ && now >= releasing_->until) end_releasing();
}

time_point quorum_lock::due() const noexcept {
  auto t = std::max(held_part_ != 0 ? held_until_ : time_point::min(), remembered_until_);
  bool idle = true;
  const auto also = [&](time_point x) {
    t = idle ? x : std::min(t, x);
    idle = false;
  };
  if (attempt_) also(attempt_->due());
  if (undoing_) also(undoing_->until);
  if (releasing_) also(releasing_->until);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const node& n = nodes_[i];
    if (n.giving_back) also(away(i) != nullptr ? n.given_up_at : n.giving_back->wake_at());
    if (n.giving_back && n.release_sent != time_point::max()) also(n.release_sent + unanswered_after());
    if (n.asks > 0) also(n.asked_at + unanswered_after());
  }
  if (!idle) return t;
  for (const node& n : nodes_) t = std::max({t, n.unsettled_until, n.doubtful_until});
  return t;
}

bool quorum_lock::over(time_point now) const noexcept {
  if (attempt_ || undoing_ || releasing_ || acquired_ || released_ || now < remembered_until_) return false;
  if (held_part_ != 0 && now < held_until_) return false;
  return std::ranges::none_of(nodes_, [&](const node& n) {
    return n.asks > 0 || n.giving_back || n.unsettled_until > now || n.doubtful_until > now;
  });
}

}  // namespace tyer::redlock
