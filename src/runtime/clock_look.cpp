#include "runtime/clock_look.hpp"

#include <ctime>

namespace tyer::runtime {

namespace {

lease::duration read(clockid_t which) noexcept {
  timespec t{};
  ::clock_gettime(which, &t);
  return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

}  // namespace

// The thread may be put aside between two of them: then what they show is not of one moment.
std::optional<clock_look::offsets> clock_look::of_this_machine() noexcept {
  constexpr std::chrono::milliseconds one_moment{10};
  const auto boot = read(CLOCK_BOOTTIME);
  const auto day = read(CLOCK_REALTIME), awake = read(CLOCK_MONOTONIC);
  if (read(CLOCK_BOOTTIME) - boot > one_moment) return {};
  return offsets{day - boot, boot - awake};
}

}  // namespace tyer::runtime
