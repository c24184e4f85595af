// A value that one computes while the others wait for it.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/client.hpp>
#include <tyer/detail/same_client.hpp>
#include <tyer/export.hpp>
#include <tyer/hold.hpp>
#include <tyer/options.hpp>
#include <tyer/recipes/store.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tyer {
inline namespace v1 {
namespace recipes {

// Makes the value. It is given the hold: look at lost() if it takes long, and show fence() to what it writes to.
using compute = std::function<fresh(const hold&)>;

struct single_flight_options {
  // Of the lock of each key. `max_hold` bounds how long one may compute before another one does.
  lock_options lock = {};

  // How long get() waits for others that compute, and through an outage of the engine. Above zero.
  std::chrono::milliseconds wait_at_most{30000};

  // A value with less than this left is made anew before it ends, by one, while the others go on with what is there. 0: none is.
  std::chrono::milliseconds refresh_before{0};

  // Where refreshing runs, so that nobody waits for it: a function that runs what it is given later, on a thread of yours that may
  // block. Empty: in the call that has found the value old, which alone takes that long.
  completion_executor refresh_on = {};

  // Told what a refresh has thrown; the value is still good. On the thread that has refreshed. Must not throw.
  std::function<void(std::exception_ptr)> refresh_failed = {};
};

// A hot key that has run out: of all who ask for it, on all machines, one computes it, and the others wait and get it.
//
//   the store has for the key      | get()
//   -------------------------------+-----------------------------------------------------------------------------------------
//   a value                        | returns it; the engine is not asked
//   one with `refresh_before` left | returns it; one caller makes it anew (one attempt for the lock: it never waits for others)
//   nothing                        | takes the lock `NAME/KEY`, looks again, computes, stores, returns
//   nothing, and another computes  | waits for the lock, looks again, and finds it done
//
//   what goes wrong                          | what happens
//   -----------------------------------------+-------------------------------------------------------------------------------
//   the one who computes dies                | its lock is free after the ttl at the latest; the next one computes
//   it is paused, and another one computes   | what it brings later is refused by its fence, and get() gives it the newer value
//   `compute` throws                         | its caller gets the exception, nothing is stored, the next one computes
//   others compute for `wait_at_most`        | throws tyer::error with std::errc::timed_out
//   the engine is away                       | values in the store are given as before; else errc::unavailable after `wait_at_most`
//   the store throws                         | the caller gets the exception
//   a refresh fails, whatever it was         | `refresh_failed` is told; this object tries that key again a second later
//
// So a value is computed at least once, and by one at a time; not exactly once, since whoever dies after computing and before
// storing has left nothing. For a call that must not be repeated see once_per. Engines without tokens
// (redis://…?protocol=redisson) are refused: errc::unsupported.
//
// Thread safety: everything may be called from any thread, but from no callback of Tyer's.
// Lifetimes: keep the client for as long as it is used (errc::closed); the store is kept. With `refresh_on`, `make` is copied and may run after get()
//   has returned, even after the object is gone: it must own what it uses.
class TYER_EXPORT single_flight {
 public:
  // Throws invalid_option. What is wrong with the lock's options or with a key (NAME/KEY is at most 1024 bytes), get() tells.
  single_flight(const client& owner, std::string_view name, std::shared_ptr<store> where,
                single_flight_options options = {});
  // A temporary client would be closed at the end of the statement, and the lock with it.
  single_flight(const client&&, std::string_view, std::shared_ptr<store>, single_flight_options = {}) = delete;
  // For containers. Both are then the same, so that what was moved from goes on as before.
  single_flight(single_flight&&) noexcept;
  single_flight& operator=(single_flight&&) noexcept;
  ~single_flight();

  [[nodiscard]] std::string get(std::string_view key, const compute& make) const;

 private:
  struct state;
  std::shared_ptr<const client> client_;
  std::shared_ptr<state> state_;
};

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
