// Every option, with its default and its unit. Members are only ever added at the end.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tyer {
inline namespace v1 {

// How much a line of the log matters.
enum class log_level { debug, info, warning, error };

// Called from any thread, one call at a time. Must not block, nor call Tyer, nor end the client: a call that waits fails there with
// errc::would_deadlock. What it throws is dropped. Never shown a secret.
using log_hook = std::function<void(log_level, std::string_view)>;

// Runs a function later, somewhere: `tyer::run_on(asio_executor)` in <tyer/asio.hpp> makes one.
using completion_executor = std::function<void(std::function<void()>)>;

// Of one client: what holds for all its locks.
struct client_options {
  // Put before every name at the engine. Empty: `?prefix=` of the URI, or "tyer:"; nothing with `?protocol=`, whose names are
  // those of others.
  std::string prefix = {};

  // How long one request may take until its outcome counts as unknown; also bounds a try_lock.
  std::chrono::milliseconds request_timeout{2000};

  // How long a blocking lock waits through an outage of the engine before it throws errc::unavailable. 0: not at all; but the
  // first connection always has `request_timeout`.
  std::chrono::milliseconds unavailable_after{30000};

  // Shown with every hold (`tyer show`), beside host, pid and call site. Empty: the program's name.
  std::string label = {};

  // Told of outages, of new masters, of clocks that jump, and of what a server does not allow.
  log_hook log = {};

  // Where completions of asynchronous calls run when the handler has no executor of its own. Without one: on a thread of the
  // client, one after the other, so that a slow one delays those behind it (but no lost()). It is called in the midst of our
  // work, on any thread, also on yours inside any call, even the end of a hold: so it must not need a mutex that you keep locked
  // around such calls. It must only take what it is given, to run it later (a call of ours that waits fails there with
  // errc::would_deadlock). What it runs at once, and what it throws at, is run
  // on the client's thread instead. A handler that throws there ends the process: nobody is above it who could catch. What it
  // destroys without having run it, as a loop that has ended does, is not run: the callback is destroyed with its answer, a hold in
  // that goes back, and an observer is told after its next look.
  completion_executor completions = {};
};

// Of one lock object.
struct lock_options {
  // How long the engine keeps the lock without hearing from us. Renewed every third of it. 100 ms to 24 h. If more than 0.6 of
  // it has passed when the engine's answer comes, the grant is given back and asked for again: a ttl that is too short for the
  // way to the engine is told as errc::unavailable, in words that name both.
  std::chrono::milliseconds ttl{10000};

  // How often a released lock may go to the next waiter of the same client without a round trip, before the engine's
  // queue has its turn. 0 switches local hand-off off. At most 255. With `?protocol=` it is always off. Only between lock
  // objects with the same mode, ttl, lock_delay, waiter_ttl, note and local_handoffs.
  std::uint32_t local_handoffs = 16;

  // How long a waiter keeps its place, and a waiter that was handed the lock may take to claim it, without being heard
  // of. 0: a third of the ttl, but between 500 ms and 3 s.
  std::chrono::milliseconds waiter_ttl{0};

  // Nobody else gets the lock earlier than this after it was granted, even if it is given back before: for jobs that must
  // not run again on a machine whose clock is a little behind. A client that is closed leaves the lock taken for the rest;
  // one that dies leaves it for its ttl. 0: none. At most 24 h.
  std::chrono::milliseconds min_hold{0};

  // No hold is longer than this: then it is no more renewed, lost() is requested, and the lock goes to others. 0: no limit;
  // else at least half the ttl.
  std::chrono::milliseconds max_hold{0};

  // After a loss (the deadline passed, the holder died, an operator broke it) nobody else gets the lock for this long,
  // unless the old holder says before that it has stopped, by giving the lost hold back. 0: none. At most 1 h.
  std::chrono::milliseconds lock_delay{0};

  // Stored with the hold and shown to others, as the address of a leader. At most 256 bytes; not for secrets.
  std::string note = {};

  // What the lock is counted with in client::stats(), beside others of its kind: "orders", "cache". At most 64 printable ASCII
  // characters, and 64 groups in a client: locks of any further one are counted as "other".
  std::string group = {};
};

}  // namespace v1
}  // namespace tyer
