// The scripts of protocol=redisson: constant text, made from scripts/*.lua when Tyer is built.
#pragma once

#include "engines/redis/scripts/scripts.hpp"

namespace tyer::redis::redisson::scripts {

inline constexpr std::size_t count = 5;

struct set {
  const script &acquire, &keep, &release, &ask, &show;
  const std::array<const script*, count>& all;
};
extern const set on_one_server, in_a_cluster;

}  // namespace tyer::redis::redisson::scripts
