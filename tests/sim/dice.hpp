// Chance from a seed: the same numbers on every machine and with every standard library.
#pragma once

#include "lease/terms.hpp"

#include <cstdint>

namespace tyer::sim {

using lease::duration;
using namespace std::chrono_literals;

class dice {
 public:
  explicit dice(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {  // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Of its own, so that one more number drawn here changes nothing there.
  dice fork() noexcept { return dice{next()}; }

  std::uint64_t below(std::uint64_t n) noexcept { return next() % n; }
  bool chance(unsigned permille) noexcept { return below(1000) < permille; }

  duration between(duration least, duration most) noexcept {
    return least + duration{static_cast<duration::rep>(below(static_cast<std::uint64_t>((most - least).count()) + 1))};
  }
  // Mostly short, now and then long: every order of magnitude is as likely as the next.
  duration skewed(duration least, duration most) noexcept {
    return between(least, std::max(least, most / (1 << below(7))));
  }

 private:
  std::uint64_t state_;
};

}  // namespace tyer::sim
