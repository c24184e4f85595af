// The scripts of protocol=redisson: constant text, made from scripts/*.lua when Tyer is built.
#pragma once

#include "engines/redis/scripts/scripts.hpp"

namespace tyer::redis::redisson::scripts {

extern const script acquire, keep, release, ask, show;

inline constexpr std::size_t count = 5;
extern const std::array<const script*, count> all;

}  // namespace tyer::redis::redisson::scripts
