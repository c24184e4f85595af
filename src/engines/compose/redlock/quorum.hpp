// What the nodes agree on, in numbers.
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

// While the nodes count a lease, the fastest of their clocks and ours may come apart by one part in this many, and a node
// counts in whole milliseconds.
inline constexpr int drift_share = 100;
inline constexpr milliseconds drift_least{2};
constexpr milliseconds drift(milliseconds ttl) noexcept { return ttl / drift_share + drift_least; }

// How long a lease can be relied on that every node of a majority counts for `ttl`; from before the first of them was asked.
constexpr milliseconds good_for(milliseconds ttl) noexcept { return ttl - drift(ttl); }
// How long the nodes must count a lease that is to be relied on for `ttl`.
constexpr milliseconds to_count(milliseconds ttl) noexcept { return ttl + 2 * drift(ttl); }
static_assert(good_for(to_count(milliseconds{100})) >= milliseconds{100});
static_assert(good_for(to_count(milliseconds{86'400'000})) >= milliseconds{86'400'000});

}  // namespace tyer::redlock
