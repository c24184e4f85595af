#include "engines/mysql/asio_box.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace tyer::mysql {

void asio_box::ring() noexcept {
  if (rung_.exchange(true)) return;
  try {
    boost::asio::post(inside_->context, [] {});
  } catch (...) {  // no memory: take() returns with the next event
  }
}

std::vector<engine::delivery> asio_box::take(deadline until) {
  using std::chrono::steady_clock;
  constexpr auto at_a_time = std::chrono::hours{1};
  inside_->context.poll();
  while (!rung_) {
    const auto now = steady_clock::now();
    if (until && now >= *until) break;
    inside_->context.run_one_for(until ? std::min<steady_clock::duration>(*until - now, at_a_time) : at_a_time);
  }
  rung_ = false;
  return inbox::take(steady_clock::time_point{});
}

}  // namespace tyer::mysql
