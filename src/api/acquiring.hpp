// The throwing and the non-throwing form of an acquire, for the primitives.
#pragma once

#include "api/access.hpp"

#include <new>
#include <source_location>
#include <stop_token>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

// Runs a call that may throw when memory or threads are exhausted; the call itself reports every other failure.
template <class T, class Call>
T or_tell(failure& why, Call call) noexcept {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    why = std::make_error_code(std::errc::not_enough_memory);
  } catch (const std::system_error& e) {
    why = e.code();
  }
  return T{};
}

// For a release, an unknown outcome is an answer; a call that could not be made is an error. On a thread of ours the
// release was made, only without waiting for it: that is no error, since an exception from a callback of lost() or
// revoked() would end the process.
inline bool could_not_be_made(const failure& why) { return why.code == errc::not_held || why.code == errc::forked; }

inline hold acquire_or_tell(const lock_state& s, const primitives::patience& p, std::stop_token stop,
                            const std::source_location& where, failure& why) noexcept {
  return or_tell<hold>(why, [&] {
    auto got = primitives::acquire_blocking(*s.home, s.what, p, std::move(stop), where);
    why = std::move(got.error);
    return access::make_hold(s.home, std::move(got.hold));
  });
}

inline hold acquire_or_throw(const lock_state& s, const primitives::patience& p, std::stop_token stop,
                             const std::source_location& where) {
  failure why;
  hold h = acquire_or_tell(s, p, std::move(stop), where, why);
  if (why) throw error(why);
  return h;
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
