// A connection to one engine.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/detail/to_wait.hpp>
#include <tyer/error.hpp>
#include <tyer/export.hpp>
#include <tyer/options.hpp>
#include <tyer/stats.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace tyer {
inline namespace v1 {

namespace detail {
class client_state;
struct access;
}  // namespace detail

// One engine, one connection, and three threads whatever the number of locks and waiters: for I/O, for deadlines, and for
// callbacks. (While callbacks of lost() are slow, up to 15 more.) An engine adds to them:
//
//   memory                      | none
//   redis (but redlock)         | one, which looks up host names and sleeps otherwise
//   redlock                     | two for each node
//   etcd                        | one, which deletes overdue keys while no thread drives; one more if the URI has host names
//
//   tyer::client client{"redis://127.0.0.1:6379"};
//
// The constructor parses the URI and checks what the engine can do, and never blocks: the client connects in the background
// and retries for ever. Throws tyer::error with invalid_uri, no_engine or invalid_option.
//
// Thread safety: everything may be called from any thread.
// Lifetimes: keep it for as long as its locks are used (one made of a temporary does not compile). Mutexes and holds keep what
//   they need alive. The destructor fires lost() on holds that still live, lets
//   background releases finish for at most one second, and ends the threads. It waits for running callbacks, but not for a name
//   server that does not answer: the thread of that lookup ends by itself when the answer comes.
// fork: in the child every object that came from the parent is inert: calls fail with errc::forked, no hold is valid, and
//   nothing is released.
class TYER_EXPORT client {
 public:
  explicit client(std::string_view uri, client_options options = {});
  client(client&&) noexcept;
  client& operator=(client&&) noexcept;
  ~client();

  // Waits until the engine has answered once; true if it has. False, and errc::unavailable with what went wrong, if it does
  // not in time. Any other failure is thrown, or reported: errc::closed, errc::refused, ...
  [[nodiscard]] bool wait_ready() { return wait_ready(std::chrono::seconds{5}); }
  template <class Rep, class Period>
  [[nodiscard]] bool wait_ready(const std::chrono::duration<Rep, Period>& at_most) {
    return ready_within(detail::to_wait(at_most));
  }
  [[nodiscard]] bool wait_ready(failure& why) noexcept { return wait_ready(why, std::chrono::seconds{5}); }
  template <class Rep, class Period>
  [[nodiscard]] bool wait_ready(failure& why, const std::chrono::duration<Rep, Period>& at_most) noexcept {
    return ready_within(why, detail::to_wait(at_most));
  }

  // Asks the holders of the name to release it soon: their hold::revoked() is requested. Returns how many were asked. Takes
  // nothing from them.
  std::uint32_t ask(std::string_view name, std::string_view reason = {}) const;
  std::uint32_t ask(failure& why, std::string_view name, std::string_view reason = {}) const noexcept;

  // What the client has counted since it was made. Copying takes some microseconds and blocks nobody. Empty for a moved-from
  // client, and in a forked child. Throws std::bad_alloc.
  [[nodiscard]] client_stats stats() const;
  // The same as a function for exporters: callable from any thread and at any time, also after the client is gone.
  [[nodiscard]] std::function<client_stats()> stats_reader() const;

  // Ends all waits with errc::closed at once, both for locks and for answers of the engine, even if the engine is silent;
  // fires lost() on live holds, and waits for releases for at most `at_most`, plus 200 ms for the engine itself; and, like the
  // destructor, for callbacks that run on the client's threads, unless it is called by one. True if every release was
  // answered.
  bool close() noexcept { return close(std::chrono::seconds{1}); }
  template <class Rep, class Period>
  bool close(const std::chrono::duration<Rep, Period>& at_most) noexcept {
    return close_within(detail::to_wait(at_most));
  }

 private:
  friend struct detail::access;
  explicit client(std::shared_ptr<detail::client_state> s) noexcept;
  bool ready_within(std::chrono::nanoseconds at_most);
  bool ready_within(failure& why, std::chrono::nanoseconds at_most) noexcept;
  bool close_within(std::chrono::nanoseconds at_most) noexcept;

  std::shared_ptr<detail::client_state> state_;
};

}  // namespace v1
}  // namespace tyer
