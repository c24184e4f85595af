// Whether somebody has set this machine's clock, or the machine was suspended, since the last look.
//
//   time of day - time since boot           | changes only when somebody sets the clock: both are slewed alike
//   time since boot - time that it was awake | grows only while the machine is suspended
//
// No lease depends on it: leases are counted on the time since boot, which goes on during a suspension.
#pragma once

#include "lease/terms.hpp"

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

namespace tyer::runtime {

class clock_look {
 public:
  struct offsets {
    lease::duration day{}, asleep{};
  };
  // Nothing: it could not be read exactly, this time.
  using reader = std::function<std::optional<offsets>()>;

  enum class what { set_ahead, set_back, suspended };
  struct jump {
    clock_look::what what;
    lease::duration by;
  };
  using jumps = std::array<std::optional<jump>, 2>;

  static constexpr std::chrono::seconds apart{1}, least{1};

  clock_look() = default;
  explicit clock_look(reader r) : read_(std::move(r)) {}

  // Looks at most once in `apart`.
  jumps look(lease::time_point now) {
    if (!read_ || now < again_at_) return {};
    again_at_ = now + apart;
    const auto seen = read_();
    if (!seen) return {};
    const auto before = std::exchange(last_, seen);
    return before ? compare(*before, *seen) : jumps{};
  }

  static std::optional<offsets> of_this_machine() noexcept;

 private:
  static jumps compare(const offsets& before, const offsets& now) {
    jumps found;
    if (now.asleep - before.asleep >= least) found[0] = {what::suspended, now.asleep - before.asleep};
    const auto ahead = now.day - before.day;
    if (ahead >= least) found[1] = {what::set_ahead, ahead};
    if (-ahead >= least) found[1] = {what::set_back, -ahead};
    return found;
  }

  reader read_;
  std::optional<offsets> last_;
  lease::time_point again_at_{};
};

}  // namespace tyer::runtime
