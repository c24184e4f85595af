// The time a hold is ours: begun by a grant, extended by confirmed renewals, ended by proof, by the deadline or by us.
//
// *Unknown* is not an event here: a renewal without an answer neither extends nor ends anything.
#pragma once

#include "lease/terms.hpp"

namespace tyer::lease {

class tenure {
 public:
  // An engine may have given less than the ttl: so when the request left is not told by when the tenure ends.
  tenure(time_point sent, time_point valid_until, duration ttl) noexcept
      : valid_until_(valid_until), confirmed_at_(sent), ttl_(ttl) {}

  // A renewal sent at `sent` was confirmed. True if the end moved.
  bool on_kept(time_point sent, duration ttl) noexcept {
    confirmed_at_ = std::max(confirmed_at_, sent);
    const time_point end = lease::valid_until(sent, ttl);
    if (end <= valid_until_) return false;  // answers may come in another order than they were sent
    ttl_ = ttl;
    valid_until_ = end;
    return true;
  }

  bool over(time_point now) const noexcept { return now >= alarm_at(valid_until_, ttl_); }
  bool can_hand_off(time_point now) const noexcept { return valid_until_ - now >= least_useful(ttl_); }

  time_point valid_until() const noexcept { return valid_until_; }
  // When the last request that the engine confirmed was sent.
  time_point confirmed_at() const noexcept { return confirmed_at_; }
  duration ttl() const noexcept { return ttl_; }

 private:
  time_point valid_until_, confirmed_at_;
  duration ttl_;
};

}  // namespace tyer::lease
