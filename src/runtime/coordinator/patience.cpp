// The coordinator and an engine that does not answer: how long each acquisition in line waits for it, and how it is
// answered then.
//
//   one attempt           | until `request_timeout` has passed since its call
//   with a limit          | until that
//   without               | `unavailable_after`, from its own call or from when the silence began, whichever was later; but
//                         | `request_timeout` at the least before the engine was there for the first time. There is no
//                         | silence while the requests are answered behind which its own could not be sent yet
//
// The last kind have no timer of their own: the ticket that stands for them checks the first of them, and all whose time is
// over are answered together.
#include "runtime/coordinator/coordinator.hpp"
#include "runtime/failures.hpp"

#include <algorithm>
#include <utility>

namespace tyer::runtime {

// A caller that is answered may cancel the others: those must not look as if they were still in line.
void coordinator::take_out(lane& l, acquisition& w, leaving& to) noexcept {
  leave(l, w);
  w.queued_at = nullptr;
  to.push_back(w);
}

void coordinator::finish_all(leaving& all, const tyer::failure& why) noexcept {
  while (lease::waiting* w = all.pop_front()) finish(static_cast<acquisition&>(*w), same(why), nullptr);
}

// An engine that was never connected may still be connecting: it gets at least the time of one request, whatever is allowed
// for an outage.
lease::duration coordinator::bears() const noexcept {
  return met_ ? limits_.unavailable_after : std::max(limits_.unavailable_after, limits_.request_timeout);
}

std::optional<lease::time_point> coordinator::borne_until(const acquisition& w,
                                                          lease::time_point since) const noexcept {
  if (!w.waits || w.limit != lease::time_point::max()) return {};
  return std::max(w.since, since) + bears();
}

void coordinator::plan_to_tell(lane& l, const acquisition& w) noexcept {
  if (!l.silent_since) return;
  const auto until = borne_until(w, *l.silent_since);
  if (!until || *until >= l.tells_at) return;
  l.tells_at = *until;
  if (l.standing != nullptr) wake(*l.standing);
}

// A request for those in line got no answer. It left at most request_timeout ago, whatever the engine says.
void coordinator::on_silence(ticket& t, tyer::failure why, lease::time_point sent) noexcept {
  lane& l = *t.home;
  l.not_heard(std::move(why), std::max(sent, clock_.now() - limits_.request_timeout));
  for (const lease::waiting* w = l.line.front(); w != nullptr && l.tells_at == lease::time_point::max();
       w = w->place.next) {
    plan_to_tell(l, static_cast<const acquisition&>(*w));
  }
}

// The line is in order of arrival. Returns when the time of the next one is over.
lease::time_point coordinator::take_out_those_who_are_over(lane& l, lease::time_point since, leaving& to) noexcept {
  const auto now = clock_.now();
  for (lease::waiting* at = l.line.front(); at != nullptr;) {
    acquisition& w = static_cast<acquisition&>(*std::exchange(at, at->place.next));
    const auto until = borne_until(w, since);
    if (!until) continue;
    if (*until > now) return *until;
    take_out(l, w, to);
  }
  return lease::time_point::max();
}

// Running out of time is an answer if others have the lock, even others of this client; if the engine has not said so, it
// is an outage. A request that was made a moment ago, when the lock changed hands, is no outage: it may still be on its
// way.
tyer::failure coordinator::at_its_limit(const acquisition& w) noexcept {
  const lane& l = *w.queued_at;
  if (l.too_late) return same(l.too_late);
  const auto moment = limits_.request_timeout / 10;
  const bool just_now = !l.silent_since && l.taken_until >= w.since && clock_.now() - l.taken_until <= moment;
  if (w.waits && (l.taken || just_now)) return {};
  return l.silence ? same(l.silence) : no_answer_within(w.limit - w.since, w.waits);
}

// Behind others of this client that are answered one after the other nobody meets silence: each of them takes request_timeout at
// the most, and then it is the next one's turn.
lease::time_point coordinator::silent_since(const ticket& t) noexcept {
  const auto since = *t.home->silent_since;
  if (!t.held_back) return since;
  const auto& all = t.turn.linked ? releases_ : asks_;
  const auto before_it = all.find(engine_.group(t.what->name));
  return before_it != all.end() ? std::max(since, before_it->second.heard) : since;
}

// Its request leaves now: it was no silence until the last of those before it was answered.
void coordinator::is_next(ticket& t) noexcept {
  if (t.held_back && t.home->silent_since) t.home->silent_since = silent_since(t);
}

void coordinator::tell_those_who_are_over(ticket& t) {
  lane& l = *t.home;
  leaving over;
  l.tells_at = take_out_those_who_are_over(l, silent_since(t), over);
  const auto why = same(l.silence);
  if (l.line.empty()) begin_anew(t);
  finish_all(over, why);
}

}  // namespace tyer::runtime
