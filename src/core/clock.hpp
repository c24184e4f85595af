// Time as a seam: the real clock, or one that a test moves by hand.
#pragma once

#include <tyer/clock.hpp>
#include <tyer/export.hpp>

#include <chrono>
#include <functional>

namespace tyer::core {

class TYER_EXPORT clock {
 public:
  virtual ~clock() = default;
  virtual lease_clock::time_point now() const noexcept = 0;

  // True if time passes by itself, so that a thread may sleep until a time. A thread on a clock that stands still waits
  // for a wake-up instead.
  virtual bool flows() const noexcept = 0;

  // For people to read, and for nothing else: it may jump.
  virtual std::chrono::system_clock::time_point wall() const noexcept { return std::chrono::system_clock::now(); }
};

class TYER_EXPORT boot_clock final : public clock {
 public:
  lease_clock::time_point now() const noexcept override { return lease_clock::now(); }
  bool flows() const noexcept override { return true; }
};

}  // namespace tyer::core
