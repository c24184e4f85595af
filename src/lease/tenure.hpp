// How long a hold is ours: from a grant, extended by confirmed renewals, until proof of loss, the deadline or a release.
//
// *Unknown* is not an event here: a renewal without an answer neither extends nor ends anything.
#pragma once

#include "lease/terms.hpp"

namespace tyer::lease {

class tenure {
 public:
  // `ttl` is what the engine gave, which may be less than what it was asked for.
  tenure(time_point sent, time_point valid_until, duration ttl) noexcept
      : valid_until_(valid_until), alarm_at_(lease::alarm_at(valid_until, ttl)), confirmed_at_(sent), ttl_(ttl) {}

  // A renewal sent at `sent` has proven that the hold is ours for `ttl`. True if the end or the alarm moved: the alarm's
  // lead depends on the ttl, so a shorter proof can move the alarm without the end.
  bool on_kept(time_point sent, duration ttl) noexcept {
    confirmed_at_ = std::max(confirmed_at_, sent);
    const time_point end = lease::valid_until(sent, ttl);
    const time_point alarm = lease::alarm_at(end, ttl);
    if (end > valid_until_) ttl_ = ttl;
    if (end <= valid_until_ && alarm <= alarm_at_)
      return false;  // answers may come in another order than they were sent
    valid_until_ = std::max(valid_until_, end);
    alarm_at_ = std::max(alarm_at_, alarm);
    return true;
  }

  bool over(time_point now) const noexcept { return now >= alarm_at_; }
  bool can_hand_off(time_point now) const noexcept { return valid_until_ - now >= least_useful(ttl_); }

  time_point valid_until() const noexcept { return valid_until_; }
  time_point alarm_at() const noexcept { return alarm_at_; }
  // When the last request that the engine confirmed was sent.
  time_point confirmed_at() const noexcept { return confirmed_at_; }
  duration ttl() const noexcept { return ttl_; }

 private:
  time_point valid_until_, alarm_at_, confirmed_at_;
  duration ttl_;
};

}  // namespace tyer::lease
