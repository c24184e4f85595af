#include "lease/acquire.hpp"

namespace tyer::lease {

using core::fate;
using core::why;

acquire::verb acquire::ask(time_point now) noexcept {
  state_ = state::asking;
  woken_ = false;
  asked_to_queue_ = plan_.enqueue;
  asked_at_ = now;
  wake_at_ = time_point::max();
  return verb::ask;
}

acquire::verb acquire::rest(time_point until) noexcept {
  state_ = state::resting;
  wake_at_ = until;
  return verb::none;
}

void acquire::answered() noexcept {
  failing_ = false;
  touched_ = true;
  backoff_.reset();
}

acquire::verb acquire::on_granted(time_point now, time_point sent, std::uint64_t part, duration ttl) noexcept {
  if (state_ != state::asking) return verb::none;
  answered();
  state_ = state::over;
  part_ = part;
  granted_at_ = sent;
  given_ = ttl;
  valid_until_ = lease::valid_until(sent, ttl);
  return valid_until_ - now < least_useful(ttl) ? verb::anew : verb::granted;
}

acquire::verb acquire::on_queued(time_point now, bool head, duration look_again) noexcept {
  if (state_ != state::asking) return verb::none;
  answered();
  head_ = head;
  if (woken_) return ask(now);  // the push may be newer than this answer
  state_ = state::queued;
  wake_at_ = now + std::clamp<duration>(look_again, 1ms, std::max(plan_.ttl, plan_.waiter_ttl));
  return verb::none;
}

acquire::verb acquire::on_busy(time_point now, duration hint) noexcept {
  if (state_ != state::asking) return verb::none;
  answered();
  if (!plan_.enqueue) {
    touched_ = false;  // the engine keeps nothing of an attempt that it answered with busy
    state_ = state::over;
    return verb::busy;
  }
  if (!asked_to_queue_) return ask(now);                                 // that was the answer to a try
  return rest(now + std::clamp<duration>(hint, 1ms, plan_.waiter_ttl));  // an engine without a queue
}

acquire::verb acquire::on_failure(time_point now, why w) noexcept {
  if (state_ != state::asking) return verb::none;
  trouble_ = w;
  if (w == why::unknown) {
    unsettled_ = true;
    unsettled_at_ = asked_at_;
  }
  if (!core::passing(w)) {
    state_ = state::over;
    return verb::failed;
  }
  if (!failing_) {
    failing_ = true;
    failing_since_ = asked_at_;
  }
  if (now - failing_since_ >= plan_.patience) {
    state_ = state::over;
    return verb::failed;
  }
  return rest(std::min(now + backoff_.next(), failing_since_ + plan_.patience));
}

acquire::verb acquire::on_wake(time_point now) noexcept {
  if (state_ == state::asking) woken_ = true;
  return state_ == state::queued || state_ == state::resting ? ask(now) : verb::none;
}

acquire::verb acquire::on_kept(time_point now, fate f) noexcept {
  if (state_ != state::queued) return verb::none;
  // holding: handed over, and the push was lost. gone: the engine has forgotten us, or our place lapsed.
  if (f != fate::waiting) return ask(now);
  // The keep has also removed what had expired at the name, and only the head can know when its turn comes: so we need not
  // ask now. But an engine may have lost our place without noticing, so we ask again some time.
  if (!head_) wake_at_ = std::min(now + plan_.waiter_ttl, asked_at_ + ask_again_every(plan_.ttl, plan_.waiter_ttl));
  return verb::none;
}

acquire::verb acquire::on_up(time_point now) noexcept { return state_ == state::resting ? ask(now) : verb::none; }

acquire::verb acquire::on_time(time_point now) noexcept {
  const bool waiting = state_ == state::queued || state_ == state::resting;
  return waiting && now >= wake_at_ ? ask(now) : verb::none;
}

time_point acquire::settled_at() const noexcept {
  return state_ == state::asking ? asked_at_ + 2 * plan_.not_after : unsettled_until();
}

time_point acquire::unsettled_until() const noexcept {
  // Twice: the engine's clock is known to us only to within a round trip.
  return unsettled_ ? unsettled_at_ + 2 * plan_.not_after : time_point::min();
}

}  // namespace tyer::lease
