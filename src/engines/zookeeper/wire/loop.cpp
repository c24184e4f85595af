#include "engines/zookeeper/wire/loop.hpp"

#include <utility>

namespace tyer::zookeeper::wire {

std::vector<engine::delivery> loop::wait(const engine::inbox::deadline& until) {
  context_.serve(until, [this] { return !noted_.empty(); });
  return std::exchange(noted_, {});
}

}  // namespace tyer::zookeeper::wire
