// A job that starts at most once in a period on all machines together, and a value that is fetched at most that often.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/admin.hpp>
#include <tyer/client.hpp>
#include <tyer/clock.hpp>
#include <tyer/export.hpp>
#include <tyer/options.hpp>
#include <tyer/recipes/single_flight.hpp>
#include <tyer/recipes/store.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace recipes {

// Makes the client that takes a period: `[] { return tyer::client{uri}; }`.
using client_source = std::function<client()>;

// Two starts are never closer than `period`, on any machines, even if processes die. The same as `tyer run NAME --once-per
// PERIOD`, and usable together with it: both mark the period with the same lock, `NAME:once`.
//
//   the period                        | run(job)                     | try_take()
//   ----------------------------------+------------------------------+-----------------------------------------------
//   was taken by nobody               | takes it, runs job, true     | takes it; until when the work must have begun
//   was taken less than a period ago  | false                        | nothing
//   is taken, but too late to start   | false: this period is skipped  | nothing
//
// A client of its own takes that lock and is closed at once: the lock is never renewed or released, and expires by itself. So
// the length of the job and the death of its process change nothing. The engine measures the time; clocks of other machines
// do not matter, but the clock of a Redis server does: if it is set forward, a period ends early, and so it does if the
// engine loses the lock (a server without its data, a failover of Redis). The lock stays taken for the period plus a tenth of
// it (1 s to 10 s): that is how long the start may take. A process that is paused between its last look at the time and the
// first line of the job starts late, as with any lock.
//
// If a process dies between taking the period and doing the work, that period is skipped: at most once, not exactly once. If
// the job throws, the caller gets the exception, and the period is used up all the same. `tyer break NAME:once --now` frees
// it again.
//
// One run may be longer than the period: then two overlap. Take a mutex inside if they must not.
//
// When the engine is away: errc::unavailable after `request_timeout`; the request may have been carried out, and then this
// period is skipped.
//
// Thread safety: everything may be called from any thread. Each start costs a connection of its own.
class TYER_EXPORT once_per {
 public:
  static constexpr std::chrono::milliseconds period_min = std::chrono::seconds{1};
  // A lock lives 24 h at most. A period of a day would fail anyway: cron may start a job a little earlier than the day
  // before.
  static constexpr std::chrono::milliseconds period_max = std::chrono::hours{23};

  // Throws invalid_option unless period_min <= period <= period_max.
  once_per(client_source open, std::string_view name, std::chrono::milliseconds period);
  once_per(std::string_view uri, std::string_view name, std::chrono::milliseconds period, client_options options = {});
  // A copy is the same object, and a move copies.
  once_per(const once_per&) = default;
  once_per& operator=(const once_per&) = default;

  // True if this call has run the job.
  template <class Job>
  bool run(Job&& job) const {
    const auto start_by = try_take();
    if (!start_by || lease_clock::now() >= *start_by) return false;
    std::forward<Job>(job)();
    return true;
  }

  // For a job that is not a function. Returns the latest time at which the job may start: later would be too close to the
  // next start.
  [[nodiscard]] std::optional<lease_clock::time_point> try_take() const;

  // How long the period is still taken, by any process; zero if it is free. Sends one request through `asks`, and takes
  // nothing.
  [[nodiscard]] std::chrono::milliseconds remaining(const client& asks) const;

  [[nodiscard]] const std::string& name() const& noexcept { return name_; }
  const std::string& name() const&& = delete;  // it lives in the object: name that

  // memory_of: the lock that marks the period, for `tyer show` and `tyer break`. is_memory: true if an entry says that it is
  // such a mark: no job runs under it, and no holder can be asked to release it. In layouts without a place for notes
  // (?protocol=redisson) each lock of Tyer whose name ends so counts as one.
  [[nodiscard]] static std::string memory_of(std::string_view name);
  [[nodiscard]] static bool is_memory(const lock_entry& holder);

 private:
  client_source open_;
  std::string name_;
  std::chrono::milliseconds period_;
};

struct shared_value_options {
  // A value is not used any more when it has less than this to live: the longest time that a request with it may take.
  std::chrono::milliseconds ends_before{60000};

  // For the lock `NAME/value`.
  lock_options lock = {};

  // How long get() waits for another fetch, for the rest of a period, and through an outage of the engine. Above zero.
  std::chrono::milliseconds wait_at_most{30000};

  // One caller fetches the next value this long before `ends_before`, if the period allows it. 0: not before the old one
  // ends.
  std::chrono::milliseconds refresh_before{0};

  // Where that fetch runs, as in single_flight_options. Empty: in the call that found the value old.
  completion_executor refresh_on = {};

  // Receives what that fetch has thrown; the old value is still good. Must not throw.
  std::function<void(std::exception_ptr)> refresh_failed = {};
};

// One value for all machines that may be fetched at most once in a period, such as an access token: one process fetches and
// stores it, and all use it until shortly before it ends.
//
//   the store has                          | get(fetch)
//   ---------------------------------------+-------------------------------------------------------------------------------
//   a value that is good                   | returns it; the engine is not asked
//   nothing, and the period is free        | takes the lock `NAME/value` and the period, fetches, stores, returns
//   nothing, and another one fetches       | waits for it, `wait_at_most` at the longest
//   nothing, and the period is taken: the  | waits for the rest of the period if that is within `wait_at_most`, and fetches;
//     fetch has died or thrown             |   else throws errc::over_limit at once, with words that say how long is left
//
// `period` is the shortest time between two fetches, also when one is killed half-way. Make it as long as the issuer of the
// value requires, and no longer, since after such a kill nobody has a value for that long. `fetch` says how long a value is
// good, counted from when fetch was called: so it does not matter how long the answer took.
//
// If a new value makes the one before worthless, as some tokens do: between the fetch and the store of the new one, others may still get
// the old one. So set `refresh_before` to 0 there, and `ends_before` to the longest time that a request takes. And whoever else
// fetches one, or a fetcher that was paused and overtaken, makes the stored one worthless: call replace() when it is refused.
//
// The rest is as with single_flight: a fetcher that was overtaken stores nothing and gets the newer value; the same when the
// engine or the store is away; the same lifetimes. A copy is the same object, and a move copies.
class TYER_EXPORT shared_value {
 public:
  // Throws invalid_option.
  shared_value(const client& owner, once_per at_most, std::shared_ptr<store> where, shared_value_options options = {});
  // A temporary client would be closed at the end of the statement, and the lock with it.
  shared_value(const client&&, once_per, std::shared_ptr<store>, shared_value_options = {}) = delete;

  shared_value(const shared_value&) noexcept = default;
  shared_value& operator=(const shared_value&) noexcept = default;

  [[nodiscard]] std::string get(const compute& fetch) const;

  // For a value that was refused before its end. As get(), but a stored value that equals `refused` is none: one of all who
  // call it so fetches, when the period allows it, and the others get what it has fetched.
  [[nodiscard]] std::string replace(std::string_view refused, const compute& fetch) const;

 private:
  struct state;
  std::shared_ptr<const state> state_;
};

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
