// The arithmetic of a lease: how long it is ours, when to renew, when to raise the alarm.
#pragma once

#include <tyer/clock.hpp>

#include <algorithm>
#include <chrono>

namespace tyer::lease {

using duration = lease_clock::duration;
using time_point = lease_clock::time_point;
using namespace std::chrono_literals;

// What clocks that run at slightly different rates, and a thread that is scheduled late, may cost.
constexpr duration margin(duration ttl) noexcept { return std::max<duration>(10ms, ttl / 20); }

// Counted from *sending* what the engine confirmed: it cannot have begun to count before.
constexpr time_point valid_until(time_point sent, duration ttl) noexcept { return sent + ttl - margin(ttl); }

// lost() is told this long before the end, so that it is told in time even if the thread that tells it wakes up late.
constexpr duration alarm_lead(duration ttl) noexcept { return margin(ttl); }
constexpr time_point alarm_at(time_point valid_until, duration ttl) noexcept { return valid_until - alarm_lead(ttl); }

constexpr duration renew_every(duration ttl) noexcept { return ttl / 3; }

// And never more often than this, however little an engine proves.
inline constexpr duration renew_least = 5ms;

// A renewal that failed is tried again this often, inside the validity.
constexpr duration renew_retry(duration ttl) noexcept { return std::clamp<duration>(ttl / 20, renew_least, 500ms); }

// A place in the queue, and a hand-over until it is claimed, live this long. Short, because a dead waiter costs it.
constexpr duration default_waiter_ttl(duration ttl) noexcept { return std::clamp<duration>(ttl / 3, 500ms, 3s); }

// Whoever waits asks again at least this often, though its place is kept and nobody wakes it.
constexpr duration ask_again_every(duration ttl, duration waiter_ttl) noexcept {
  return 10 * std::max(ttl, waiter_ttl);
}

// A grant with less than this left is not worth giving to a caller: give it back and queue anew.
constexpr duration least_useful(duration ttl) noexcept { return ttl / 3; }

}  // namespace tyer::lease
