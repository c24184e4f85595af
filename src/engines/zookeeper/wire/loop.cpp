#include "engines/zookeeper/wire/loop.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tyer::zookeeper::wire {

std::vector<engine::delivery> loop::wait(const engine::inbox::deadline& until) {
  using std::chrono::steady_clock;
  constexpr auto at_a_time = std::chrono::hours{1};
  context_.poll();
  while (noted_.empty() && !context_.woken()) {
    const auto now = steady_clock::now();
    if (until && now >= *until) break;
    const auto limit = until ? std::min<steady_clock::duration>(*until - now, at_a_time) : at_a_time;
    context_.run_one_for(limit);
  }
  context_.returned();
  return std::exchange(noted_, {});
}

}  // namespace tyer::zookeeper::wire
