#include "engines/zookeeper/wire/loop.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace tyer::zookeeper::wire {

std::vector<engine::delivery> loop::wait(const engine::inbox::deadline& until) {
  using std::chrono::steady_clock;
  constexpr auto at_a_time = std::chrono::hours{1};
  context_.poll();
  while (noted_.empty() && !woken_) {
    const auto now = steady_clock::now();
    if (until && now >= *until) break;
    const auto limit = until ? std::min<steady_clock::duration>(*until - now, at_a_time) : at_a_time;
    context_.run_one_for(limit);
  }
  woken_ = false;
  return std::exchange(noted_, {});
}

void loop::wake() noexcept {
  if (woken_.exchange(true)) return;
  try {
    boost::asio::post(context_, [] {});
  } catch (...) {  // no memory: wait() returns with the next event
  }
}

}  // namespace tyer::zookeeper::wire
