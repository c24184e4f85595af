// Whether a hold may be converted through a lock object.
#pragma once

#include "api/access.hpp"

namespace tyer {
inline namespace v1 {
namespace detail {

// The reason if it may not. A hold of an object with other terms has another lease, and would be renewed with the wrong
// terms.
inline failure not_of(const lock_state& to, const std::shared_ptr<hold_state>& s) {
  const auto home = s ? s->home.lock() : nullptr;
  if (s && !home) return errc::lost;
  const auto same = [](const runtime::spec& a, const runtime::spec& b) {
    return a.name == b.name && a.ttl == b.ttl && a.lock_delay == b.lock_delay;
  };
  if (s && home == to.home && same(s->what(), *to.what)) return {};
  return {errc::not_held, "this hold is not one of this shared_mutex"};
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
