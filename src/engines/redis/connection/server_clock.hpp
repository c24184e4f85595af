// The server's time, as far as a client can know it.
//
// An exchange asks at local time a, is answered at b, and the answer says s: so at local time x the server's clock shows
// something from s + (x - b) to s + (x - a). The narrowest recent exchange is used. Server times are microseconds since
// 1970 on the server's clock; they are compared with nothing but server times.
#pragma once

#include <tyer/clock.hpp>

#include <chrono>
#include <cstdint>

namespace tyer::redis {

class server_clock {
 public:
  using time_point = lease_clock::time_point;
  using microseconds = std::chrono::microseconds;

  // Two clocks may drift apart by this much; an estimate gets wider with age.
  static constexpr double drift = 1e-4;

  bool known() const noexcept { return known_; }

  // `server` was read between `sent` and `received` of the local clock. False if that contradicts earlier exchanges: one of
  // the clocks has jumped. Then the new exchange counts.
  bool observe(time_point sent, time_point received, microseconds server) noexcept;

  // The latest time that the server's clock can show at local time x: a limit computed from it is never too early.
  microseconds latest(time_point x) const noexcept;
  microseconds earliest(time_point x) const noexcept;

  // Another server: nothing is known about its clock.
  void forget() noexcept { known_ = false; }
  std::uint32_t jumps() const noexcept { return jumps_; }

 private:
  microseconds slack(time_point x) const noexcept;

  time_point sent_, received_;
  microseconds server_{};
  std::uint32_t jumps_ = 0;
  bool known_ = false;
};

}  // namespace tyer::redis
