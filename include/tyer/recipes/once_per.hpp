// At most once in a period, on all machines together; and a value that comes with it.
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

// Makes a client, for the one who takes a period: `[] { return tyer::client{uri}; }`.
using client_source = std::function<client()>;

// Two starts are never nearer to each other than `period`, whoever starts them, on whatever machine, and whoever dies when. The same as
// `tyer run NAME --once-per PERIOD`, and beside it: both take the same memory, a lock of the name `NAME:once`.
//
//   the period                        | run(job)                     | try_take()
//   ----------------------------------+------------------------------+-----------------------------------------------
//   was taken by nobody               | takes it, runs job, true     | takes it; until when the work must have begun
//   was taken less than a period ago  | false                        | nothing
//   is taken, but too late to start   | false: this period is left out | nothing
//
// The memory is taken by a client of its own, which is closed at once: never renewed, never given back, and gone by itself. So how long
// the job takes, and when its process dies, changes nothing. The engine counts its time; clocks of machines do not matter, but that
// of a Redis server does: set forward, it ends a period early. It stays taken for the period and a tenth of it more (1 s to 10 s):
// that is how long the start may take.
//
// Whoever dies between taking the period and working leaves it out: at most once, not exactly once. If the job throws, the caller gets
// the exception, and the period is used up all the same. `tyer break NAME:once --now` opens it again.
//
// One run may be longer than the period: then two overlap. Take a mutex inside if they must not.
//
// When the engine is away: errc::unavailable after `request_timeout`; what was asked may have been done, and then this period is left out.
//
// Thread safety: everything may be called from any thread. Each start costs a connection of its own.
class TYER_EXPORT once_per {
 public:
  static constexpr std::chrono::milliseconds period_min = std::chrono::seconds{1};
  // A lock lives 24 h at most. A day would not do anyway: cron starts a little earlier one day than the day before.
  static constexpr std::chrono::milliseconds period_max = std::chrono::hours{23};

  // Throws invalid_option unless period_min <= period <= period_max.
  once_per(client_source open, std::string_view name, std::chrono::milliseconds period);
  once_per(std::string_view uri, std::string_view name, std::chrono::milliseconds period, client_options options = {});
  // A copy is the same; there is nothing to move.
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

  // For a job that is not a function. Not later than this it must start: else it would be too near the next.
  [[nodiscard]] std::optional<lease_clock::time_point> try_take() const;

  // How long the period is still taken, by whomever; zero if it is not. One request of this client, which takes nothing.
  [[nodiscard]] std::chrono::milliseconds remaining(const client& asks) const;

  [[nodiscard]] const std::string& name() const& noexcept { return name_; }
  const std::string& name() const&& = delete;  // it lives in the object: name that

  // The lock that is the memory, for `tyer show` and `tyer break`; and whether what holds a lock is such a memory, by its own words:
  // nobody is at work under it, and nobody can be asked for it.
  [[nodiscard]] static std::string memory_of(std::string_view name);
  [[nodiscard]] static bool is_memory(const lock_entry& holder);

 private:
  client_source open_;
  std::string name_;
  std::chrono::milliseconds period_;
};

struct shared_value_options {
  // A value is used no more when it has less than this to live: the time that a request with it may be on its way.
  std::chrono::milliseconds ends_before{60000};

  // Of the lock `NAME/value`.
  lock_options lock = {};

  // How long get() waits for who fetches, for the rest of a period, and through an outage of the engine. Above zero.
  std::chrono::milliseconds wait_at_most{30000};

  // The next value is fetched so long before `ends_before`, by one, if the period allows it. 0: not before the old one is over.
  std::chrono::milliseconds refresh_before{0};

  // Where that runs, as in single_flight_options. Empty: in the call that has found the value old.
  completion_executor refresh_on = {};

  // Told what it has thrown; the value is still good. Must not throw.
  std::function<void(std::exception_ptr)> refresh_failed = {};
};

// One value for all machines that may be fetched once in a period at most, such as an access token: fetched by one, stored, and used by
// all until shortly before it ends.
//
//   the store has                          | get(fetch)
//   ---------------------------------------+-------------------------------------------------------------------------------
//   a value that is good                   | returns it; the engine is not asked
//   nothing, and the period is free        | takes the lock `NAME/value` and the period, fetches, stores, returns
//   nothing, and another one fetches       | waits for it, `wait_at_most` at the longest
//   nothing, and the period is taken: who  | waits for the rest of the period if that is within `wait_at_most`, and fetches;
//     fetched has died or has thrown       |   else throws errc::over_limit at once, whose words say how long is left
//
// `period` is the least time between two fetches, also when one is killed half-way: as long as the other side wants it, and no longer,
// since that is how long all are without a value then. How long a value is good, `fetch` says.
//
// If a new value makes the one before worthless, as some tokens do: between the fetch and the store of the new one, others may still get
// the old one. So set `refresh_before` to 0 there, and `ends_before` to the longest time that a request takes.
//
// The rest is as with single_flight: a fetcher that was overtaken stores nothing and is given the newer value; the same when the
// engine or the store is away; the same lifetimes. A copy is the same; there is nothing to move.
class TYER_EXPORT shared_value {
 public:
  // Throws invalid_option.
  shared_value(const client& owner, once_per at_most, std::shared_ptr<store> where, shared_value_options options = {});
  // A temporary client would be closed at the end of the statement, and the lock with it.
  shared_value(const client&&, once_per, std::shared_ptr<store>, shared_value_options = {}) = delete;

  shared_value(const shared_value&) noexcept = default;
  shared_value& operator=(const shared_value&) noexcept = default;

  [[nodiscard]] std::string get(const compute& fetch) const;

 private:
  struct state;
  std::shared_ptr<const state> state_;
};

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
