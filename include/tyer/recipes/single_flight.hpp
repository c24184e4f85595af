// A value that one caller computes while the others wait for it.
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

class shared_value;

// Makes the value. It gets the hold: check lost() if it takes long, and send fence() with every write.
using compute = std::function<fresh(const hold&)>;

struct single_flight_options {
  // For the lock of each key. `max_hold` bounds how long one caller may compute before another one does.
  lock_options lock = {};

  // How long get() waits while others compute, and through an outage of the engine. Above zero.
  std::chrono::milliseconds wait_at_most{30000};

  // When a value has less than this left, one caller recomputes it, while the others keep using the old one. 0: never.
  std::chrono::milliseconds refresh_before{0};

  // Where the refresh runs, so that no caller waits for it: a function that runs its argument later, on a thread of yours
  // that may block. Empty: in the call that found the value old; only that call takes longer.
  completion_executor refresh_on = {};

  // Receives what a refresh has thrown, on the thread of the refresh; the old value is still good. Must not throw.
  std::function<void(std::exception_ptr)> refresh_failed = {};
};

// For a hot key that has expired: of all callers on all machines, one computes the value, and the others wait for it and get
// it.
//
//   the store has for the key      | get()
//   -------------------------------+-----------------------------------------------------------------------------------------
//   a value                        | returns it; the engine is not asked
//   one with `refresh_before` left | returns it; one caller recomputes it (one attempt for the lock: it never waits for others,
//                                  |   and after an attempt that found others at it this object rests for a moment)
//   nothing                        | takes the lock `NAME/KEY`, looks again, computes, stores, returns
//   nothing, and another computes  | waits for the lock, looks again, and finds it done. Of the callers of one object one does
//                                  |   that, and the others wait for it in memory, for the ttl at the longest
//
//   what goes wrong                          | what happens
//   -----------------------------------------+-------------------------------------------------------------------------------
//   the one who computes dies                | its lock is free after the ttl at the latest; the next one computes
//   it is paused, and another one computes   | the fence refuses its late value, and its get() returns the newer one
//   `compute` throws                         | its caller gets the exception, nothing is stored, the next one computes
//   others compute for `wait_at_most`        | throws tyer::error with std::errc::timed_out
//   the engine is away                       | values in the store are given as before; else errc::unavailable after `wait_at_most`
//   the store throws                         | the caller gets the exception
//   a refresh fails, for any reason          | `refresh_failed` is called; this object tries that key again a second later
//
// So a value is computed at least once, and by one caller at a time; not exactly once, since a process that dies after
// computing and before storing leaves nothing. For a call that must not be repeated see once_per. Engines without tokens
// (redis://…?protocol=redisson) are refused: errc::unsupported.
//
// A value lives from when the store has it: what was paused between computing and storing is that much older. `make` must
// not get the same key: it would wait for itself, for `wait_at_most` (with client_options::refuse_own_wait it is refused at
// once: errc::would_deadlock).
//
// Thread safety: everything may be called from any thread, but from no callback of Tyer's.
// Lifetimes: keep the client for as long as it is used (errc::closed); the store is kept. With `refresh_on`, `make` is copied and may run after get()
//   has returned, even after the object is gone: it must own what it uses.
class TYER_EXPORT single_flight {
 public:
  // Throws invalid_option. Errors in the lock's options or in a key (NAME/KEY is at most 1024 bytes) are reported by get().
  single_flight(const client& owner, std::string_view name, std::shared_ptr<store> where,
                single_flight_options options = {});
  // A temporary client would be closed at the end of the statement, and the lock with it.
  single_flight(const client&&, std::string_view, std::shared_ptr<store>, single_flight_options = {}) = delete;
  // For containers. Both objects are then the same: the moved-from object keeps working.
  single_flight(single_flight&&) noexcept;
  single_flight& operator=(single_flight&&) noexcept;
  ~single_flight();

  [[nodiscard]] std::string get(std::string_view key, const compute& make) const;

 private:
  friend class shared_value;
  struct state;

  // As get(), but a stored value that equals `refused` is none.
  [[nodiscard]] std::string get_but(const std::string* refused, std::string_view key, const compute& make) const;

  std::shared_ptr<const client> client_;
  std::shared_ptr<state> state_;
};

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
