// The coordinator confirms a hold on request. A confirmation is an extra renewal: the keeper's schedule does not change.
#include "lease/backoff.hpp"
#include "runtime/coordinator/coordinator.hpp"
#include "runtime/failures.hpp"
#include "runtime/hold_state.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <utility>

namespace tyer::runtime {

using core::fate;
using phase = detail::hold_state::phase;

namespace {

tyer::failure not_said() noexcept try {
  return {errc::outcome_unknown, "the engine could not say whether the hold stands"};
} catch (const std::bad_alloc&) {
  return errc::outcome_unknown;
}

}  // namespace

// All callers that ask about one hold of the engine. The first `asked_` of them are answered by the request under way; the
// others came later and share the next one. Owned as any asker: by the engine's reply, or by itself while nothing is under
// way.
class confirmation final : public coordinator::asker {
 public:
  struct caller {
    hold_ptr of;
    confirm_reply told;  // destroying it uncalled answers "out of memory"
    lease::time_point until;
  };

  confirmation(std::shared_ptr<coordinator::under_way> u, ticket& t, caller first)
      : shared_(std::move(u)), who_(t.who) {
    callers_.push_back(std::move(first));
    shared_->home->asker_times_.admit();
    shared_->home->askers_.push_back(*this);
    t.confirming = this;
  }
  confirmation(const confirmation&) = delete;
  ~confirmation() override {
    coordinator* d = shared_->home;
    if (d == nullptr) return;
    const auto in = d->lock();
    landed(*d);
    d->forget(*this);
    if (ticket* t = d->find(who_); t != nullptr && t->confirming == this) t->confirming = nullptr;
    const auto last = std::move(callers_);
  }

  // The request under way left too early to answer this caller. The next one does, and is sent anyway.
  void add(caller c) { callers_.push_back(std::move(c)); }
  std::size_t size() const noexcept { return callers_.size(); }
  bool held_back() const noexcept { return queued_; }

  void send(coordinator& d) noexcept override;
  void on_time(coordinator& d, lease::time_point now) noexcept override;
  void close(lease::time_point now) noexcept override {  // the client has released the hold
    const auto last = std::move(self);
    asked_ = callers_.size();
    tell_who_asked({}, now);
  }

 private:
  void leave(coordinator& d, const ticket& t, std::uint32_t group, coordinator::asks& of_group) noexcept;
  void landed(coordinator& d) noexcept;
  void answered(std::unique_ptr<asker> me, engine::outcome<engine::kept>&& o);
  bool tries_again(coordinator& d, const engine::outcome<engine::kept>& o) noexcept;
  tyer::failure judge(coordinator& d, const engine::outcome<engine::kept>& o) const;
  void tell_first(const tyer::failure& f, lease::time_point now) noexcept;
  void tell_who_asked(const tyer::failure& f, lease::time_point now) noexcept;

  std::shared_ptr<coordinator::under_way> shared_;
  core::id who_;
  std::list<caller> callers_;  // by arrival, and so by deadline; moving a deque would allocate
  std::size_t asked_ = 0;      // how many of them the request under way answers
  bool in_flight_ = false;
  bool queued_ = false;  // waits, since too many requests are under way
  std::uint32_t group_ = 0;
  lease::time_point sent_;
  lease::backoff backoff_;
  tyer::failure why_not_;  // why the request could not be sent
};

// ---- sending

void confirmation::send(coordinator& d) noexcept {
  d.asker_times_.remove(*this);
  const ticket* t = d.find(who_);
  if (t == nullptr || d.still_held(callers_.back().of) == nullptr) return close(d.clock_.now());
  try {
    const auto group = d.engine_.group(t->what->name);
    coordinator::asks& all = d.asks_[group];
    if (all.in_flight < d.limits_.asks_in_flight_max) return leave(d, *t, group, all);
    if (!queued_) all.waiting.push_back(who_);
    queued_ = true;
    d.asker_times_.set(*this, callers_.front().until);
  } catch (const std::bad_alloc&) {  // dropped: that is an answer too
    const auto last = std::move(self);
  }
}

// The engine answers this request within request_timeout. Callers that have already waited have less time left.
void confirmation::leave(coordinator& d, const ticket& t, std::uint32_t group, coordinator::asks& of_group) noexcept {
  group_ = group;
  ++of_group.in_flight;
  in_flight_ = true;
  queued_ = false;
  asked_ = callers_.size();
  sent_ = d.clock_.now();
  const auto first = callers_.front().until;
  if (first < sent_ + d.limits_.request_timeout) d.asker_times_.set(*this, first);
  try {
    d.engine_.confirm({t.who, t.what->name, t.how}, t.what->ttl,
                      [me = std::move(self)](engine::outcome<engine::kept>&& o) mutable {
                        auto& mine = static_cast<confirmation&>(*me);
                        mine.answered(std::move(me), std::move(o));
                      });
  } catch (const std::bad_alloc&) {  // dropped: that is an answer too
  }
}

void confirmation::landed(coordinator& d) noexcept {
  if (std::exchange(in_flight_, false)) --d.asks_.find(group_)->second.in_flight;
}

void confirmation::answered(std::unique_ptr<asker> me, engine::outcome<engine::kept>&& o) {
  coordinator* d = shared_->home;
  if (d == nullptr) return;
  const auto in = d->lock();
  landed(*d);
  d->count_reply(engine_request::confirm, d->clock_.now() - sent_, o);
  d->asker_times_.remove(*this);
  d->send_asks_that_waited(d->asks_.find(group_)->second);
  if (!place.linked) return;  // all callers were answered already
  if (tries_again(*d, o)) return void(self = std::move(me));
  const auto said_of_it = judge(*d, o);
  tell_who_asked(said_of_it, d->clock_.now());
  if (callers_.empty() || !place.linked) return;
  self = std::move(me);
  send(*d);
}

// A request that could not be sent, because the engine is not connected, is repeated for as long as one request may take.
bool confirmation::tries_again(coordinator& d, const engine::outcome<engine::kept>& o) noexcept {
  const auto* f = std::get_if<engine::failure>(&o.result);
  const auto now = d.clock_.now();
  if (f == nullptr || f->kind != core::why::not_sent || asked_ == 0 || callers_.front().until <= now) return false;
  why_not_ = said(*f);
  asked_ = 0;
  d.asker_times_.set(*this, std::min(now + backoff_.next(), callers_.front().until));
  return true;
}

// Callers whose time is over get an error; the request under way goes on for the others.
void confirmation::on_time(coordinator& d, lease::time_point now) noexcept {
  auto me = std::move(self);
  const auto why = why_not_.code ? same(why_not_) : no_answer_within(d.limits_.request_timeout, false);
  while (!callers_.empty() && callers_.front().until <= now) tell_first(why, now);
  if (callers_.empty() || !place.linked) return;
  const auto next = callers_.front().until;
  if (in_flight_) {
    if (next < sent_ + d.limits_.request_timeout) d.asker_times_.set(*this, next);
    return;
  }
  self = std::move(me);
  queued_ ? d.asker_times_.set(*this, next) : send(d);
}

// ---- the answer

// As the answer to a renewal, except that the keeper's schedule does not change. An unknown fate is no verdict.
tyer::failure confirmation::judge(coordinator& d, const engine::outcome<engine::kept>& o) const {
  ticket* t = d.find(who_);
  if (t == nullptr || t->held() == nullptr) return {};
  if (const auto* f = std::get_if<engine::failure>(&o.result)) return said(*f);
  const auto& [fates, ttl] = std::get<engine::kept>(o.result);
  if (fates.size() != 1 || fates[0] == fate::unknown || t->in_doubt || o.sent < sent_) return not_said();
  if (fates[0] != fate::holding) {
    d.lose_by_proof(*t, fates[0]);
    return {};
  }
  const auto proven = std::clamp<lease::duration>(ttl, lease::duration::zero(), t->what->ttl);
  if (!coordinator::told_lost(*t) && t->held()->on_kept(o.sent, proven) && t->current) {
    t->current->extend(t->held()->valid_until(), t->held()->alarm_at());
  }
  return {};
}

// A hold that was lost or released meanwhile (closing the client releases it) is over whatever the engine says. So is a
// hold whose deadline passed while the answer was on its way, as in a process that was stopped, even if the watch has not
// noticed yet.
void confirmation::tell_first(const tyer::failure& f, lease::time_point now) noexcept {
  caller c = std::move(callers_.front());
  callers_.pop_front();
  if (asked_ > 0) --asked_;
  const bool stands = coordinator::still_held(c.of) != nullptr && c.of->valid(now);
  try {
    stands ? c.told(same(f), !f) : c.told({}, false);
  } catch (const std::bad_alloc&) {  // dropped: that is an answer too
  }
}

void confirmation::tell_who_asked(const tyer::failure& f, lease::time_point now) noexcept {
  while (asked_ > 0) tell_first(f, now);
}

// ---- the coordinator

ticket* coordinator::still_held(const hold_ptr& h) noexcept {
  ticket* t = h->where() == phase::held ? h->at_coordinator : nullptr;
  return t != nullptr && t->held() != nullptr ? t : nullptr;
}

void coordinator::confirm(const hold_ptr& h, confirm_reply told) {
  ticket* t = closed_ ? nullptr : still_held(h);  // closed: the hold was released, and nothing may be touched any more
  if (t == nullptr) return told({}, false);
  const auto until = clock_.now() + limits_.request_timeout;
  if (t->confirming != nullptr) {
    if (t->confirming->size() >= limits_.acquisitions_max) {
      board_.turned_away(limit_set_by::client);
      return told({errc::over_limit, "too many callers wait for confirm() of this hold"}, false);
    }
    return t->confirming->add({h, std::move(told), until});
  }
  auto c = std::make_unique<confirmation>(under_way_, *t, confirmation::caller{h, std::move(told), until});
  confirmation& now = *c;
  now.self = std::move(c);
  now.send(*this);
}

void coordinator::send_held_back(confirmation& c) noexcept {
  if (c.held_back()) c.send(*this);
}

}  // namespace tyer::runtime
