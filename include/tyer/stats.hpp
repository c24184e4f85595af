// What a client has counted, as plain numbers and as a table for exporters.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/export.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tyer {
inline namespace v1 {

// How an acquire ended. The first three have a hold.
enum class acquire_end : std::uint8_t {
  granted,      // by the engine, at once
  queued,       // by the engine, after waiting in the queue
  handed_off,   // by another caller of this client, without the engine
  busy,         // one attempt, and others have the lock
  timed_out,    // others had it for as long as the caller was willing to wait
  cancelled,    // requested by the caller's stop_token or cancellation slot
  unavailable,  // the engine did not answer
  refused,      // the engine said no, or a limit was reached
  closed,       // the client was closed meanwhile
  failed,       // out of memory
};

// Why a hold was lost: its lost() was requested.
enum class loss_reason : std::uint8_t {
  deadline,  // no renewal was confirmed in time
  gone,      // the engine said so: it was broken or had expired there, or the server has lost its data
  max_hold,  // the limit of its own options
  closed,    // the client was closed
};

// What the engine was asked.
enum class engine_request : std::uint8_t {
  acquire,  // also repeated by a waiter
  keep,     // a batch of holds, or of places in the queue
  release,
  convert,
  confirm,
  look,   // for an observer: who holds a name, who waits
  query,  // of an operator: show, list, ask, evict, diagnose
};

// answered: the engine answered, perhaps with a refusal. failed: the request could not be sent, as before
// the first connection, or its outcome is not known.
enum class request_end : std::uint8_t { answered, failed };

// Whether the client reconnected to the same server or to another.
enum class reconnection : std::uint8_t { same_server, other_server };

// Which side refused a request because a documented limit was reached.
enum class limit_set_by : std::uint8_t { client, engine };

namespace detail {
template <class Key>
inline constexpr std::size_t keys = 0;
template <>
inline constexpr std::size_t keys<acquire_end> = 10;
template <>
inline constexpr std::size_t keys<loss_reason> = 4;
template <>
inline constexpr std::size_t keys<engine_request> = 7;
template <>
inline constexpr std::size_t keys<request_end> = 2;
template <>
inline constexpr std::size_t keys<reconnection> = 2;
template <>
inline constexpr std::size_t keys<limit_set_by> = 2;
}  // namespace detail

// One value for each enumerator.
template <class Key, class T>
struct stats_by {
  std::array<T, detail::keys<Key>> all{};

  constexpr T& operator[](Key k) noexcept { return all[static_cast<std::size_t>(k)]; }
  constexpr const T& operator[](Key k) const noexcept { return all[static_cast<std::size_t>(k)]; }
};

// A histogram of durations.
struct duration_histogram {
  static constexpr std::array<std::chrono::nanoseconds, 13> bounds{
      std::chrono::microseconds{100}, std::chrono::microseconds{500}, std::chrono::milliseconds{1},
      std::chrono::milliseconds{5},   std::chrono::milliseconds{10},  std::chrono::milliseconds{50},
      std::chrono::milliseconds{100}, std::chrono::milliseconds{500}, std::chrono::seconds{1},
      std::chrono::seconds{5},        std::chrono::seconds{10},       std::chrono::minutes{1},
      std::chrono::minutes{10}};

  std::array<std::uint64_t, bounds.size() + 1>
      buckets{};  // [i]: above bounds[i - 1], at most bounds[i]; the last: above all bounds
  std::chrono::nanoseconds sum{};

  std::uint64_t count() const noexcept { return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0}); }
};

// Counts of the locks of one `lock_options::group`.
struct group_stats {
  std::string name;                                                 // empty: locks without a group
  stats_by<acquire_end, duration_histogram> acquire_duration = {};  // from the call until its answer
  duration_histogram hold_duration = {};                            // until it was given back or lost
  stats_by<loss_reason, std::uint64_t> losses = {};
  std::uint64_t holds = 0;    // now
  std::uint64_t waiters = 0;  // callers that have no answer yet
};

// All that a client has counted since it was made. Each number is exact, but they may have been read at slightly different
// moments.
struct client_stats {
  std::vector<group_stats> groups;  // the first is that of locks without a group
  stats_by<engine_request, stats_by<request_end, duration_histogram>> request_duration =
      {};                                     // from the request to its answer
  duration_histogram renewal_lag = {};        // how much later than planned the renewal of a hold was sent
  duration_histogram renewal_remaining = {};  // how long a hold was still valid when its renewal was confirmed
  std::optional<std::chrono::nanoseconds> remaining_min = {};  // the smallest of those; none before the first
  stats_by<reconnection, std::uint64_t> reconnects = {};       // without the first connection
  stats_by<limit_set_by, std::uint64_t> over_limit = {};
};

// ---- the same as a table

enum class instrument_kind : std::uint8_t { counter, gauge, histogram };

// What is measured. Names and units are those of OpenTelemetry: "tyer.acquire.duration", "s".
struct instrument {
  std::string_view name;
  std::string_view unit;
  instrument_kind kind;
  std::span<const std::string_view> labels;  // keys; the name of a lock is never among them
  std::string_view help;
};

// All instruments, in the order of samples().
[[nodiscard]] TYER_EXPORT std::span<const instrument> instruments() noexcept;

// One number or histogram of an instrument.
struct sample {
  const instrument* of = nullptr;
  std::array<std::string_view, 3> values;  // of its labels, in their order
  double value = 0;                        // of a counter or a gauge; durations in seconds
  const duration_histogram* durations = nullptr;
};

// All samples, by instrument, including those that are still zero: an exporter is one loop over them. They refer to the
// stats.
[[nodiscard]] TYER_EXPORT std::vector<sample> samples(const client_stats& s);
std::vector<sample> samples(const client_stats&& s) = delete;  // they refer to the stats: name those

// The same as JSON.
[[nodiscard]] TYER_EXPORT std::string to_json(const client_stats& s);

}  // namespace v1
}  // namespace tyer
