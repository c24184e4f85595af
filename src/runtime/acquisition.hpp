// One caller's request for a lock, from the call until its one answer.
#pragma once

#include "core/function.hpp"
#include "lease/local_queue.hpp"
#include "runtime/agenda.hpp"
#include "runtime/spec.hpp"

#include <tyer/error.hpp>

#include <cstdint>
#include <memory>
#include <source_location>
#include <system_error>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {
class hold_state;
}
}  // namespace v1
}  // namespace tyer

namespace tyer::runtime {

struct lane;
class coordinator;
using hold_ptr = std::shared_ptr<detail::hold_state>;

// A call that its caller may cancel, at any moment and without allocating: it is linked, not copied, into the list of
// cancelled calls.
struct revocable {
  virtual ~revocable() = default;
  virtual void call_off(coordinator&) = 0;

  std::error_code called_off;                    // the reason, once it was cancelled
  std::shared_ptr<revocable> called_off_before;  // the client_runtime's list of them
};

struct acquisition : lease::waiting, timed, revocable, std::enable_shared_from_this<acquisition> {
  std::shared_ptr<const spec> what;
  bool waits = true;                                   // false: one attempt
  lease::time_point limit = lease::time_point::max();  // afterwards an empty answer
  std::source_location where;                          // call site, for people
  core::function<void(tyer::failure, hold_ptr)> done;  // once, on the coordinator's thread: must not block
  bool anywhere = false;  // `done` may be called on any thread, since it only opens a latch

  void call_off(coordinator&) override;

  // The coordinator's own.
  lane* queued_at = nullptr;
  std::shared_ptr<acquisition> self;  // while the coordinator has it
};

using confirm_reply = core::function<void(tyer::failure, bool)>;  // once, on the coordinator's thread: must not block

// One caller's request to change the mode of a hold, from the call until its one answer.
struct change : revocable, std::enable_shared_from_this<change> {
  hold_ptr of;
  std::shared_ptr<const spec> to;                      // the same name in the other mode
  bool waits = true;                                   // false: one attempt
  lease::time_point limit = lease::time_point::max();  // afterwards `false`
  // Called once, on the coordinator's thread: true if the hold has the new mode. If not, its mode is unchanged.
  core::function<void(tyer::failure, bool)> done;

  void call_off(coordinator&) override;

  // The coordinator's own.
  bool pending = false;
  lane* home = nullptr;  // the lane of the other mode, with a reserved place: the change itself allocates nothing
};

// One caller's request to be told when the engine has answered for the first time, from the call until its one answer.
struct readiness : revocable {
  lease::time_point limit = lease::time_point::max();  // afterwards errc::unavailable, with what went wrong
  core::function<void(tyer::failure)> done;            // once, on the coordinator's thread: must not block

  void call_off(coordinator&) override { answer(called_off); }
  void answer(tyer::failure f) noexcept {
    if (std::exchange(over, true)) return;
    try {
      done(std::move(f));
    } catch (...) {  // the handler had no memory to pass it on
    }
  }

  bool over = false;
};

}  // namespace tyer::runtime
