#include "engines/redis/connection/server_clock.hpp"

#include <cstdlib>

namespace tyer::redis {

using std::chrono::duration_cast;

bool server_clock::observe(time_point sent, time_point received, microseconds server) noexcept {
  bool consistent = true, narrower = true;
  if (known_) {
    consistent = earliest(received) <= server + microseconds{1} && server <= latest(sent) + microseconds{1};
    consistent = consistent || (earliest(sent) <= server && server <= latest(received));
    const auto width_now = latest(received) - earliest(received);
    narrower = duration_cast<microseconds>(received - sent) <= width_now;
  }
  if (!consistent) ++jumps_;
  if (!consistent || narrower) {
    sent_ = sent;
    received_ = received;
    server_ = server;
    known_ = true;
  }
  return consistent;
}

server_clock::microseconds server_clock::slack(time_point x) const noexcept {
  const auto age = x > received_ ? x - received_ : received_ - x;
  return microseconds{static_cast<std::int64_t>(drift * static_cast<double>(duration_cast<microseconds>(age).count()))};
}

server_clock::microseconds server_clock::latest(time_point x) const noexcept {
  return server_ + duration_cast<microseconds>(x - sent_) + slack(x) + microseconds{1};
}

server_clock::microseconds server_clock::earliest(time_point x) const noexcept {
  return server_ + duration_cast<microseconds>(x - received_) - slack(x) - microseconds{1};
}

}  // namespace tyer::redis
