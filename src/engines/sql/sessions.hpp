// What is known of clients' sessions, from what the database has told of them.
//
// A hold that has been kept lives by its client's session row: it is over when its own time is over *and* the session has been ended,
// which anybody may do whose clock at the server is past its expiry, in a statement of its own. That statement and the renewal write
// the same row, so one of them comes first: a session that was renewed is not ended, and one that was ended is never renewed. What is
// known here may be old, and then says "lives" for a little longer: an ended session stays ended.
#pragma once

#include "engines/kit/resource.hpp"
#include "engines/sql/exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

namespace tyer::sql {

class sessions {
 public:
  static constexpr std::size_t known_max = 10'000;

  void learn(std::int64_t session, store_time expires, bool ended) {
    if (known_.size() >= known_max) known_.clear();
    auto& k = known_[session];
    k.expires = std::max(k.expires, expires);
    k.ended |= ended;
  }

  // Until when the hold is known to live; and without a session, if that is over for good.
  void apply(kit::seat& s) const {
    const auto at = s.lease != 0 ? known_.find(s.lease) : known_.end();
    if (at == known_.end()) return;
    s.expires = std::max(s.expires, at->second.expires);
    if (at->second.ended) s.lease = 0;
  }

  // Whether what is known of it says nothing about now.
  bool must_ask(const kit::seat& s, store_time now) const {
    if (s.lease == 0 || s.expires > now) return false;
    const auto at = known_.find(s.lease);
    return at == known_.end() || (!at->second.ended && at->second.expires <= now);
  }

 private:
  struct known {
    store_time expires;
    bool ended = false;
  };
  std::map<std::int64_t, known> known_;
};

}  // namespace tyer::sql
