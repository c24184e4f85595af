// How long to wait, from a duration or a time of any kind. Not for direct use.
#pragma once

#include <chrono>

namespace tyer {
inline namespace v1 {
namespace detail {

// The conversion never overflows: a time that does not fit into nanoseconds becomes the longest one, which means no limit;
// zero, a negative time and NaN become zero, which means one attempt.
template <class Rep, class Period>
constexpr std::chrono::nanoseconds to_wait(const std::chrono::duration<Rep, Period>& d) {
  using std::chrono::nanoseconds;
  constexpr std::chrono::duration<double> longest = (nanoseconds::max)();
  const std::chrono::duration<double> rough = d;
  if (!(rough.count() > 0)) return nanoseconds::zero();
  return rough < longest / 2 ? std::chrono::ceil<nanoseconds>(d) : (nanoseconds::max)();
}
template <class Clock, class Duration>
std::chrono::nanoseconds to_wait(const std::chrono::time_point<Clock, Duration>& limit) {
  using seconds = std::chrono::duration<double>;
  const auto now = Clock::now();
  const auto rough = seconds{limit.time_since_epoch()} - seconds{now.time_since_epoch()};
  if (!(rough > seconds{-1})) return std::chrono::nanoseconds::zero();
  if (rough > seconds{(std::chrono::nanoseconds::max)()} / 2) return (std::chrono::nanoseconds::max)();
  return limit > now ? to_wait(limit - now) : std::chrono::nanoseconds::zero();  // of unsigned times too
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
