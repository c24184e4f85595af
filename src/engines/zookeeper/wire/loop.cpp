#include "engines/zookeeper/wire/loop.hpp"

#include <tyer/error.hpp>

#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace tyer::zookeeper::wire {

// Asio throws an exception of its own when no descriptor is left.
loop::loop() try : inside_(std::make_unique<inside>()) {
} catch (const boost::system::system_error& e) {
  throw error({std::error_code{e.code()}, "the engine cannot be set up in this process: " + e.code().message()});
}

std::vector<engine::delivery> loop::wait(const engine::inbox::deadline& until) {
  using std::chrono::steady_clock;
  constexpr auto at_a_time = std::chrono::hours{1};
  inside_->context.poll();
  while (noted_.empty() && !woken_) {
    const auto now = steady_clock::now();
    if (until && now >= *until) break;
    const auto limit = until ? std::min<steady_clock::duration>(*until - now, at_a_time) : at_a_time;
    inside_->context.run_one_for(limit);
  }
  woken_ = false;
  return std::exchange(noted_, {});
}

void loop::wake() noexcept {
  if (woken_.exchange(true)) return;
  try {
    boost::asio::post(inside_->context, [] {});
  } catch (...) {  // no memory: wait() returns with the next event
  }
}

}  // namespace tyer::zookeeper::wire
