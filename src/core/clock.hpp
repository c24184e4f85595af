// Time as a seam: the real clock, or one that a test moves by hand.
#pragma once

#include <tyer/clock.hpp>
#include <tyer/export.hpp>

#include <chrono>
#include <memory>

namespace tyer::core {

class TYER_EXPORT clock {
 public:
  virtual ~clock() = default;
  virtual lease_clock::time_point now() const noexcept = 0;

  // True if time passes by itself, so that a thread may sleep until a time. A thread on a clock that stands still waits
  // for a wake-up instead.
  virtual bool flows() const noexcept = 0;

  // The rest is for a clock that stands still and may be moved when all threads wait for it. The real clock ignores it.
  //
  // A call of this thread, which may sleep until it is answered. Null: the clock does not track calls.
  class call {
   public:
    virtual ~call() = default;
    // Called by the caller once its request is submitted. With a limit: at that time it continues without an answer.
    virtual void sleeps(lease_clock::time_point limit = lease_clock::time_point::max()) noexcept = 0;
    virtual void answered() noexcept = 0;  // by anybody, before or after
  };
  virtual std::shared_ptr<call> begin_call() const { return nullptr; }
  // Announces a time at which something will be done that the clock cannot know otherwise.
  virtual void due(lease_clock::time_point) const {}
  // How long a thread that is willing to wait for `at_most` may wait in real time.
  virtual std::chrono::milliseconds really(std::chrono::milliseconds at_most) const noexcept { return at_most; }

  // For people to read, and for nothing else: it may jump.
  virtual std::chrono::system_clock::time_point wall() const noexcept { return std::chrono::system_clock::now(); }
};

class TYER_EXPORT boot_clock final : public clock {
 public:
  lease_clock::time_point now() const noexcept override { return lease_clock::now(); }
  bool flows() const noexcept override { return true; }
};

}  // namespace tyer::core
