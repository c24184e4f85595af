// The arithmetic of majorities and clock drift.
#pragma once

#include "engine/engine.hpp"

#include <cstddef>

namespace tyer::redlock {

using engine::failure;
using engine::fate;
using engine::id;
using engine::milliseconds;
using engine::time_point;
using engine::why;
using duration = lease_clock::duration;

constexpr std::size_t majority(std::size_t nodes) noexcept { return nodes / 2 + 1; }

// During a lease, the fastest of the nodes' clocks and ours may drift apart by 1/100 of the time, and a node counts in
// whole milliseconds.
inline constexpr int drift_share = 100;
inline constexpr milliseconds drift_least{2};
constexpr milliseconds drift(milliseconds ttl) noexcept { return ttl / drift_share + drift_least; }

// How long a lease is valid that every node of a majority keeps for `ttl`, counted from before the first node was asked.
constexpr milliseconds good_for(milliseconds ttl) noexcept { return ttl - drift(ttl); }
// How long the nodes must keep a lease so that it is valid for `ttl`.
constexpr milliseconds to_count(milliseconds ttl) noexcept { return ttl + 2 * drift(ttl); }
static_assert(good_for(to_count(milliseconds{100})) >= milliseconds{100});
static_assert(good_for(to_count(milliseconds{86'400'000})) >= milliseconds{86'400'000});

}  // namespace tyer::redlock
