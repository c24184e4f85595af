// What is known of a hold or a place, when its key turns out to be older: the data was set back to a copy.
#pragma once

#include <cstdint>
#include <utility>

namespace tyer::etcd {

// Whatever has happened to it since that revision has not happened. A turn that came later did not come: whoever was told of it
// looks at its place again before it claims.
template <class Mine>
void know_as_of(Mine& m, std::int64_t revision) {
  if (m.modified <= revision) return;
  m.modified = revision;
  m.seen_under = 0;
  if (std::exchange(m.handed_over, false)) m.waits = true;
}

}  // namespace tyer::etcd
