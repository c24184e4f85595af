// The arithmetic of a lease: how long it is ours, when to renew, when to raise the alarm.
#pragma once

#include <tyer/clock.hpp>

#include <algorithm>
#include <chrono>

namespace tyer::lease {

using duration = lease_clock::duration;
using time_point = lease_clock::time_point;
using namespace std::chrono_literals;

// Allows for clocks that run at slightly different rates and for a thread that is scheduled late.
constexpr duration margin(duration ttl) noexcept { return std::max<duration>(10ms, ttl / 20); }

// Counted from *sending* the confirmed request: the engine cannot have begun to count before.
constexpr time_point valid_until(time_point sent, duration ttl) noexcept { return sent + ttl - margin(ttl); }

// lost() is requested this long before the end, so that it is in time even if the watch's thread wakes up late.
constexpr duration alarm_lead(duration ttl) noexcept { return margin(ttl); }
constexpr time_point alarm_at(time_point valid_until, duration ttl) noexcept { return valid_until - alarm_lead(ttl); }

constexpr duration renew_every(duration ttl) noexcept { return ttl / 3; }

// Never renew more often than this, however short a ttl an engine proves.
inline constexpr duration renew_least = 5ms;

// A renewal that failed is tried again this often, inside the validity.
constexpr duration renew_retry(duration ttl) noexcept { return std::clamp<duration>(ttl / 20, renew_least, 500ms); }

// A renewal that is refused together with others is tried alone at once, and again this often: about as often as if each were
// always renewed alone.
constexpr duration renew_alone(duration ttl) noexcept { return renew_every(ttl) / 2; }

// A place in the queue, and a hand-over until it is claimed, live this long. Short, because a dead waiter blocks the queue
// for this time.
constexpr duration default_waiter_ttl(duration ttl) noexcept { return std::clamp<duration>(ttl / 3, 500ms, 3s); }

// A waiter asks again at least this often, even if its place is kept and nothing wakes it.
constexpr duration ask_again_every(duration ttl, duration waiter_ttl) noexcept {
  return 10 * std::max(ttl, waiter_ttl);
}

// A grant with less than this left is not worth giving to a caller: release it and queue again.
constexpr duration least_useful(duration ttl) noexcept { return ttl / 3; }

}  // namespace tyer::lease
