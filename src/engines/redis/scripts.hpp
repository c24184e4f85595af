// The scripts that run inside the server: constant text, made from scripts/*.lua when Tyer is built.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace tyer::redis {

struct script {
  std::string_view name;
  std::string_view text;
  std::string_view sha1;  // of the text, 40 hex digits: what EVALSHA names it by
};

namespace scripts {

// As they run on one server.
extern const script acquire, release, keep_holds, keep_waiters, convert, lift, evict, ask, show;

inline constexpr std::size_t count = 9;
extern const std::array<const script*, count> all;

struct set {
  const script &acquire, &release, &keep_holds, &keep_waiters, &convert, &lift, &evict, &ask, &show;
  const std::array<const script*, count>& all;
};
extern const set on_one_server, in_a_cluster;

}  // namespace scripts
}  // namespace tyer::redis
