// The portability seam for clocks: Linux has CLOCK_BOOTTIME.
#include <tyer/clock.hpp>

#include <ctime>

namespace tyer {
inline namespace v1 {

lease_clock::time_point lease_clock::now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return time_point{std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec}};
}

}  // namespace v1
}  // namespace tyer
