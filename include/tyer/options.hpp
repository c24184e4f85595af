// Every option, with its default and its unit. Members are only ever added at the end.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tyer {
inline namespace v1 {

namespace debug {
class order;
}  // namespace debug

// The severity of a log message.
enum class log_level { debug, info, warning, error };

// Called from any thread, one call at a time. Must not block, call Tyer or destroy the client: a blocking call fails there
// with errc::would_deadlock. The text is valid during the call only. Exceptions are ignored. Messages never contain a secret.
using log_hook = std::function<void(log_level, std::string_view)>;

// Called with each event (<tyer/event.hpp>), where completions run: one after the other on a thread of the client, or as
// `completions` runs them. Like a completion it should be quick; on a thread of the client blocking functions of Tyer fail
// (errc::would_deadlock). Its exceptions are ignored. It may destroy the client. Once close() has returned no event begins:
// those that wait are dropped.
struct event;
using event_hook = std::function<void(const event&)>;

// Runs a function later, somewhere: `tyer::run_on(asio_executor)` in <tyer/asio.hpp> makes one.
using completion_executor = std::function<void(std::function<void()>)>;

// Options of one client, for all its locks.
struct client_options {
  // Put before every name at the engine. Empty: `?prefix=` of the URI, or "tyer:"; with `?protocol=` no prefix, since the
  // names are shared with other libraries.
  std::string prefix = {};

  // How long one request may take until its outcome counts as unknown; also bounds a try_lock. 10 ms to
  // 1 h.
  std::chrono::milliseconds request_timeout{2000};

  // How long a blocking lock waits through an outage of the engine before it throws errc::unavailable. 0: not at all, except
  // that the first connection always gets `request_timeout`.
  std::chrono::milliseconds unavailable_after{30000};

  // Shown with every hold (`tyer show`), beside host, pid and call site. Empty: the program's name.
  std::string label = {};

  // Receives messages about outages, new masters, clock jumps and missing permissions at a server.
  log_hook log = {};

  // Where completions of asynchronous calls run when the handler has no executor of its own. If empty: on a thread of the
  // client, one after the other, so that a slow completion delays those behind it (but no lost()). Tyer calls this function
  // from its own code, on any thread, also on yours inside any call, even in the destructor of a hold: so it must not need a
  // mutex that you keep locked around such calls. It must only queue the function to run it later (a blocking call of Tyer
  // fails there with errc::would_deadlock). If it runs the function at once, or throws, the function is run on the client's
  // thread instead. A handler that throws there ends the process, since nothing could catch the exception. If it destroys a
  // function without having run it, as a loop that has ended does, the callback is destroyed with its answer, a hold in that
  // answer is released, and an observer is called after its next read.
  completion_executor completions = {};

  // Receives losses, requests to give a lock back, waits that take long, whether the engine is there, and jumps of this
  // machine's clock.
  event_hook on_event = {};

  // A wait for a lock is reported to `on_event` when it has lasted this long, at the latest a quarter of it later; then
  // again when it has lasted twice as long, and so on. Each report asks the engine who holds the lock. 0: none is
  // reported. Otherwise at least 10 ms.
  std::chrono::milliseconds slow_wait{10000};

  // A blocking call that would wait for a lock which its own thread has acquired through this client, and still has, fails at
  // once with errc::would_deadlock, with or without a limit; words() name both call sites. For programs in which the thread
  // that acquires a lock gives it back: where holds go to other threads, such a wait can end well. Not refused: a wait that
  // ends by itself, as the hold is lost or has a max_hold (but at the object that the thread has locked it would wait for its
  // own unlock(), and is refused); an upgrade; asynchronous calls, which have no thread.
  bool refuse_own_wait = false;

  // Notes in which order threads take the locks of this client (<tyer/debug.hpp>). Clients may share one. Empty: nothing is
  // noted.
  std::shared_ptr<debug::order> order = {};
};

// Options of one lock object.
struct lock_options {
  // How long the engine keeps the lock without hearing from us. Renewed every third of it. 100 ms to 24 h. If more than 0.6
  // of it has passed when the engine's answer comes, the grant is released and requested again: a ttl that is too short for
  // the latency of the engine is reported as errc::unavailable, with a message that names both times.
  std::chrono::milliseconds ttl{10000};

  // How often a released lock may go to the next waiter of the same client without a round trip, before the engine's
  // queue has its turn. 0 switches local hand-off off. At most 255. With `?protocol=` it is always off. Only between lock
  // objects with the same mode, ttl, lock_delay, waiter_ttl, note and local_handoffs.
  std::uint32_t local_handoffs = 16;

  // How long a waiter keeps its place without a renewal, and how long a waiter that was handed the lock may take to claim it.
  // 0: a third of the ttl, but between 500 ms and 3 s; else 50 ms to 1 h.
  std::chrono::milliseconds waiter_ttl{0};

  // Nobody else gets the lock earlier than this after it was granted, even if it is released before: for jobs that must not
  // run again on a machine whose clock is a little behind. If the client is closed, the lock stays taken for the rest of this
  // time; if it dies, for the ttl. 0: none. At most 24 h.
  std::chrono::milliseconds min_hold{0};

  // The longest time of a hold: after that it is not renewed any more, lost() is requested, and the lock goes to others. 0:
  // no limit; else at least half the ttl.
  std::chrono::milliseconds max_hold{0};

  // After a loss (the deadline passed, the holder died, an operator broke it) nobody else gets the lock for this long, unless
  // the old holder releases the lost hold earlier and so says that it has stopped. 0: none. At most 1 h.
  std::chrono::milliseconds lock_delay{0};

  // Stored with the hold and shown to others, for example the address of a leader. At most 256 bytes; not for secrets.
  std::string note = {};

  // The group of the lock in client::stats(), which counts the locks of one group together: "orders", "cache". At most 64
  // printable ASCII characters. A client has at most 64 groups: locks of any further group are counted as "other".
  std::string group = {};
};

}  // namespace v1
}  // namespace tyer
