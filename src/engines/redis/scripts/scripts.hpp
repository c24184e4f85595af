// The scripts that run inside the server: constant text, made from scripts/*.lua when Tyer is built.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace tyer::redis {

struct script {
  std::string_view name;
  std::string_view text;
  std::string_view sha1;  // of the text, 40 hex digits, for EVALSHA
};

constexpr bool is_renewal(const script& s) noexcept { return s.name.starts_with("keep"); }

// Renewals and releases are never refused by the limit of requests in flight. The runtime bounds how many of these are
// under way.
constexpr bool is_owed(const script& s) noexcept { return is_renewal(s) || s.name == "release" || s.name == "lift"; }

namespace scripts {

// The scripts for one server.
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
