#include "engines/redis/deployment/follower.hpp"

#include <algorithm>
#include <utility>

namespace tyer::redis {

// What a decision depends on besides the sentinels' words.
struct follower::view {
  bool is_master, waited, long_away;
  time_point now;
  bool others_answer = false;  // a sentinel that leads no failover answers
  bool others_decide = false;  // a majority of such sentinels answers
  bool forgotten = false;      // no sentinel has our epoch any more
};

void follower::heard(std::size_t i, word w, time_point t) {
  auto& s = sentinels_[i];
  const bool same = s.says && s.says->leads_failover && s.says->epoch == w.epoch && s.says->master == w.master;
  s = {true, std::move(w), same ? s.leads_since : t};
  if (!since_) since_ = t;
}

void follower::silent(std::size_t i) { sentinels_[i] = {true, std::nullopt, {}}; }

std::optional<core::endpoint> follower::decide(bool is_master, time_point t) {
  if (std::exchange(was_master_, is_master) && !is_master) since_ = t;
  const auto to = at_ || may_begin(t) ? follow(best(look(is_master, t)), t) : std::nullopt;
  due_ = next_look(t);
  return to;
}

std::optional<core::endpoint> follower::follow(const word* w, time_point t) {
  if (w == nullptr) return std::nullopt;
  if (at_ && w->master == at_->server) {
    // A single sentinel may have the wrong address for an epoch; if we took over its epoch, we would not follow the others,
    // who are right.
    if (w->epoch > at_->epoch && majority(count_of(*w))) at_->epoch = w->epoch;
    return std::nullopt;
  }
  if (at_ && w->epoch < at_->epoch) in_vain_ = at_;
  at_ = place{w->master, w->epoch};
  was_master_ = false;
  since_ = t;
  return at_->server;
}

follower::time_point follower::next_look(time_point t) const {
  if (at_ && was_master_) {
    auto next = time_point::max();
    for (const auto& s : sentinels_) {
      const bool newer = s.says && s.says->leads_failover && s.says->epoch > at_->epoch;
      if (newer && t < s.leads_since + long_away) next = std::min(next, s.leads_since + long_away);
    }
    return next;
  }
  if (!since_) return time_point::max();
  if (t < *since_ + patience) return *since_ + patience;
  return at_ && t < *since_ + long_away ? *since_ + long_away : time_point::max();
}

bool follower::may_begin(time_point t) const {
  const auto said = [](const sentinel& s) { return s.says.has_value(); };
  const auto spoken = [](const sentinel& s) { return s.has_spoken; };
  const auto answers = static_cast<std::size_t>(std::count_if(sentinels_.begin(), sentinels_.end(), said));
  if (answers == 0) return false;
  return majority(answers) || std::all_of(sentinels_.begin(), sentinels_.end(), spoken) || t - *since_ >= patience;
}

follower::view follower::look(bool is_master, time_point t) const {
  view v{is_master, at_ && !is_master && t - *since_ >= patience, at_ && !is_master && t - *since_ >= long_away, t};
  std::size_t answers = 0, others = 0;
  bool ours = false;
  for (const auto& s : sentinels_) {
    if (!s.says) continue;
    ++answers;
    if (!s.says->leads_failover) ++others;
    ours |= at_ && s.says->epoch >= at_->epoch && !(s.says->leads_failover && s.says->master == at_->server);
  }
  v.others_answer = others > 0;
  v.others_decide = majority(others);
  v.forgotten = v.long_away && majority(answers) && !ours;
  return v;
}

const follower::word* follower::best(const view& v) const {
  const word* found = nullptr;
  for (const auto& s : sentinels_) {
    if (!s.says || !may_move(s, v)) continue;
    if (found == nullptr || better(*s.says, *found, v)) found = &*s.says;
  }
  return found;
}

// Whether to believe a sentinel, even if it leads a failover.
bool follower::is_believed(const sentinel& s, const view& v) const {
  const word& w = *s.says;
  if (!w.leads_failover || !v.others_answer) return true;
  if (in_vain_ && in_vain_->server == w.master && in_vain_->epoch == w.epoch) return false;
  return v.is_master && !v.others_decide && v.now - s.leads_since >= long_away;
}

bool follower::may_move(const sentinel& s, const view& v) const {
  const word& w = *s.says;
  if (!at_) return !w.leads_failover || !v.others_answer;
  if (v.is_master) return w.epoch > at_->epoch && is_believed(s, v);
  if (w.epoch < at_->epoch && !v.forgotten) return false;
  if (!w.leads_failover || !v.others_answer) return true;
  return v.waited && !(v.long_away && w.master == at_->server);
}

bool follower::better(const word& a, const word& b, const view& v) const {
  if (a.epoch != b.epoch) return a.epoch > b.epoch;
  if (a.leads_failover != b.leads_failover) return b.leads_failover;
  if (a.master == b.master) return false;
  const auto as = count_of(a), bs = count_of(b);
  if (as != bs) return as > bs;
  return at_ && (v.long_away ? b : a).master == at_->server;
}

std::size_t follower::count_of(const word& w) const {
  return static_cast<std::size_t>(std::count_if(sentinels_.begin(), sentinels_.end(), [&](const sentinel& s) {
    return s.says && s.says->epoch == w.epoch && s.says->master == w.master;
  }));
}

}  // namespace tyer::redis
