#include "lease/release.hpp"

namespace tyer::lease {

using core::fate;
using core::why;

release::verb release::send() noexcept {
  state_ = state::sending;
  wake_at_ = time_point::max();
  return verb::send;
}

release::verb release::on_answer(time_point sent, fate was) noexcept {
  if (state_ != state::sending) return verb::none;
  if (outcome_ == outcome::unknown) {
    outcome_ = was == fate::gone && !perhaps_done_ ? outcome::already_gone : outcome::released;
  }
  if (sent >= not_before_) {
    state_ = state::over;
    return verb::done;
  }
  state_ = state::resting;
  wake_at_ = not_before_;
  backoff_.reset();
  return verb::none;
}

// over_limit is temporary: a release must reach the engine, so it is retried.
release::verb release::on_failure(time_point now, why w) noexcept {
  if (state_ != state::sending) return verb::none;
  if (w == why::unknown) perhaps_done_ = true;
  if ((!core::passing(w) && w != why::over_limit) || now >= give_up_at_) {
    state_ = state::over;
    return verb::done;
  }
  state_ = state::resting;
  wake_at_ = now + backoff_.next();
  return verb::none;
}

release::verb release::on_settled(bool left_something, time_point not_before) noexcept {
  not_before_ = not_before;
  if (state_ != state::resting || outcome_ == outcome::unknown) return verb::none;
  if (left_something) return send();
  if (not_before_ != time_point::min()) {
    wake_at_ = not_before_;
    return verb::none;
  }
  state_ = state::over;
  return verb::done;
}

release::verb release::on_up() noexcept { return state_ == state::resting && backoff_.waiting() ? send() : verb::none; }

release::verb release::on_time(time_point now) noexcept {
  return state_ == state::resting && now >= wake_at_ ? send() : verb::none;
}

}  // namespace tyer::lease
