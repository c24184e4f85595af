// Decides which thread drives the coordinator and the engine: the I/O thread, or for a moment a caller.
//
// A caller that waits for an answer on an otherwise idle client would have to wake the I/O thread and be woken by it: two
// thread switches, which cost more than the request itself. So when the I/O thread has served a waiting caller and has
// nothing else to do, it puts the baton down for a short grace and stands by; the next caller takes it and drives the loop
// itself. If nobody does within the grace, the I/O thread takes it up again and sleeps in the engine as usual.
//
//   holder  | who may take it
//   --------+-----------------------------------------------------------------------
//   io      | nobody; the I/O thread puts it down by itself
//   nobody  | any caller at once; the I/O thread after the grace, or when it is wanted
//   caller  | nobody; the caller puts it down, or hands it to the I/O thread
//
// Thread safety: everything may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace tyer::runtime {

class baton {
 public:
  // Nobody drives the engine meanwhile: so the grace is short compared with any deadline, and long compared with the pause
  // between two calls.
  static constexpr std::chrono::microseconds grace{1000};

  // For a caller: true if it drives now.
  bool take() noexcept {
    const std::lock_guard lock{mutex_};
    if (holder_ != holder::nobody) return false;
    holder_ = holder::caller;
    used_ = true;
    return true;
  }

  // For a caller that drove. rest: nothing is left to do for now; else the I/O thread continues.
  void put_down(bool rest) noexcept {
    const std::lock_guard lock{mutex_};
    holder_ = holder::nobody;
    used_ = true;
    ++drives_;
    if (!rest) wanted_ = true;
    if (wanted_ || patient_) changed_.notify_all();
  }

  // A caller has submitted work and will not drive: if no thread drives, the I/O thread must.
  void want_io() noexcept {
    const std::lock_guard lock{mutex_};
    if (holder_ == holder::io) return;  // it checks for work again before it puts the baton down
    wanted_ = true;
    if (holder_ == holder::nobody) changed_.notify_all();
  }

  // For the I/O thread: puts the baton down unless there is work after all, calls `tell` to let waiting callers go, and has
  // it again on return.
  template <class HasWork, class Tell>
  void stand_by(HasWork has_work, Tell tell) {
    std::unique_lock lock{mutex_};
    if (has_work()) {
      lock.unlock();
      return tell();
    }
    holder_ = holder::nobody;
    wanted_ = false;
    lock.unlock();
    tell();
    lock.lock();
    do {
      used_ = false;
      changed_.wait_for(lock, grace, [this] { return wanted_ && holder_ == holder::nobody; });
      if (holder_ == holder::caller) {  // a long drive: no need to check every millisecond
        patient_ = true;
        changed_.wait(lock, [this, now = drives_] { return holder_ == holder::nobody || drives_ != now; });
        patient_ = false;
      }
    } while (holder_ == holder::caller || (!wanted_ && used_));
    holder_ = holder::io;
    wanted_ = false;
  }

 private:
  enum class holder { io, nobody, caller };

  std::mutex mutex_;
  std::condition_variable changed_;
  holder holder_ = holder::io;
  std::uint64_t drives_ = 0;
  bool used_ = false;     // a caller had it since the I/O thread last looked
  bool wanted_ = false;   // the I/O thread must take it
  bool patient_ = false;  // the I/O thread waits for the end of a drive
};

}  // namespace tyer::runtime
