#include "lease/convert.hpp"

namespace tyer::lease {

using core::why;

convert::verb convert::ask(time_point now) noexcept {
  if (to_ == goal::exclusive && now < shared_until_) return rest(shared_until_);
  state_ = state::asking;
  woken_ = false;
  asked_at_ = now;
  wake_at_ = time_point::max();
  return verb::ask;
}

convert::verb convert::rest(time_point until) noexcept {
  state_ = state::resting;
  wake_at_ = until;
  return verb::none;
}

convert::verb convert::over(verb v) noexcept {
  state_ = state::idle;
  wake_at_ = time_point::max();
  backoff_.reset();
  return v;
}

convert::verb convert::begin(goal to, time_point now) noexcept {
  to_ = to;
  return ask(now);
}

convert::verb convert::give_up(time_point now) noexcept {
  if (state_ == state::idle || to_ == goal::shared) return verb::none;
  if (state_ == state::asking) exclusive_until_ = std::max(exclusive_until_, settled(asked_at_));
  to_ = goal::shared;
  backoff_.reset();
  return ask(now);
}

convert::verb convert::on_granted(time_point now, time_point sent) noexcept {
  if (state_ != state::asking) return verb::none;
  if (to_ == goal::shared && sent < exclusive_until_) return now < exclusive_until_ ? rest(exclusive_until_) : ask(now);
  return over(verb::granted);
}

convert::verb convert::on_queued(time_point now, duration look_again) noexcept {
  if (state_ != state::asking) return verb::none;
  backoff_.reset();
  if (woken_) return ask(now);  // the push may be newer than this answer
  state_ = state::queued;
  // At every renewal at the latest: if the push is lost, the lock is idle until then.
  wake_at_ = now + std::clamp<duration>(look_again, 1ms, renew_every(ttl_));
  return verb::none;
}

convert::verb convert::on_busy() noexcept { return state_ == state::asking ? over(verb::busy) : verb::none; }

convert::verb convert::on_failure(time_point now, why w) noexcept {
  if (state_ != state::asking) return verb::none;
  if (w == why::unknown) {
    time_point& open = to_ == goal::shared ? shared_until_ : exclusive_until_;
    open = std::max(open, settled(asked_at_));
  }
  return core::passing(w) ? rest(now + backoff_.next()) : over(verb::failed);
}

convert::verb convert::on_wake(time_point now) noexcept {
  if (state_ == state::asking) woken_ = true;
  return state_ == state::queued ? ask(now) : verb::none;
}

convert::verb convert::on_up(time_point now) noexcept {
  return state_ == state::resting || state_ == state::queued ? ask(now) : verb::none;
}

convert::verb convert::on_time(time_point now) noexcept {
  const bool waiting = state_ == state::queued || state_ == state::resting;
  return waiting && now >= wake_at_ ? ask(now) : verb::none;
}

}  // namespace tyer::lease
