// The proof that a lock is held.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/clock.hpp>
#include <tyer/error.hpp>
#include <tyer/export.hpp>
#include <tyer/fence_pass.hpp>
#include <tyer/hold_id.hpp>
#include <tyer/lock_mode.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>

namespace tyer {
inline namespace v1 {

namespace detail {
class hold_state;
struct access;
}  // namespace detail

enum class release_outcome {
  released,      // the engine had it as ours, and freed it
  already_gone,  // it was not ours any more: it had expired or was broken
  unknown,       // the engine did not answer the release; it frees the lock after the ttl at the latest
};

// A held lock: move-only, owned by the object and not by a thread.
//
//   state     | valid() | lost()          | fence() ...   | destructor
//   ----------+---------+-----------------+---------------+------------------------------------
//   empty     | false   | never requested | throws        | nothing (also after release() and when moved from)
//   held      | true    | not requested   | yes           | queues the release, returns at once
//   lost      | false   | requested       | yes           | as held; the engine finds no hold with this id
//
// Renewal goes on in the background for as long as the object lives. valid() and valid_until() cost no network: the
// deadline is counted from *sending* the last confirmed grant or renewal, so the engine never gives the lock to somebody
// else before it. lost() is requested before valid_until() while the process runs; after a pause (SIGSTOP, suspend)
// valid() is false at once and lost() follows within 50 ms.
//
// Nothing can stop a paused process from believing that it still holds the lock. Send fence() with each write, and let the
// resource refuse smaller tokens (<tyer/fence.hpp>). After fork() the child's copy is a lost hold, and token(), id() and
// fence() throw errc::forked.
//
// Thread safety: const members may be called from any thread; the others need the same care as for any object.
// When the engine is away: the hold stays valid until its deadline, then it is lost.
class [[nodiscard]] TYER_EXPORT hold {
 public:
  hold() noexcept = default;
  hold(hold&&) noexcept = default;
  hold& operator=(hold&&) noexcept;
  hold(const hold&) = delete;
  hold& operator=(const hold&) = delete;
  ~hold();

  // True if it was acquired and not yet released. For validity see valid().
  explicit operator bool() const& noexcept { return state_ != nullptr; }
  // A temporary hold ends with the condition: the lock would be released before the first line of the body.
  explicit operator bool() const&& = delete;  // name the hold: if (tyer::hold h = m.try_acquire())

  // Token, id and mode together, as every fence takes them. Throws as token() does.
  [[nodiscard]] fence_pass fence() const&;
  fence_pass fence() const&& = delete;  // name the hold: here and below, a temporary would be released at once

  // Larger for every later conflicting grant of this name; fits a signed 64-bit column. An upgrade or a downgrade gives
  // the hold a new one. Throws errc::unsupported where the engine has none (redis://…?protocol=redisson).
  [[nodiscard]] std::uint64_t token() const&;
  std::uint64_t token() const&& = delete;

  // Unique to this hold, and constant for its life. Where a failover can give two holds the same token (Sentinel, Cluster),
  // the id tells them apart; fence() has both.
  [[nodiscard]] hold_id id() const;

  // Also callable on a temporary, to test whether the lock was free.
  [[nodiscard]] bool valid() const noexcept;
  // For an empty hold, and for one inherited through fork: the clock's epoch, which is in the past.
  [[nodiscard]] lease_clock::time_point valid_until() const noexcept;
  [[nodiscard]] lease_clock::duration remaining() const noexcept;  // zero when over or lost

  // Asks the engine now, in one round trip. For moments when a deadline is not enough: before an action that cannot be
  // undone.
  //
  //   answer                   | meaning
  //   -------------------------+--------------------------------------------------------------------------------------
  //   true                     | the engine had the hold when it answered, and has renewed it: valid_until() is later
  //   false                    | it is lost; lost() is requested by another thread, perhaps a moment later
  //   throws, or sets `why`    | not known: errc::unavailable after `request_timeout` at the latest, ... The hold is unchanged
  //
  // Each hold has one such request under way at a time; callers that come meanwhile share the next.
  // This is no fence: the hold may end before the caller reads `true`. Throws errc::not_held for an empty hold.
  [[nodiscard]] bool confirm() const&;
  [[nodiscard]] bool confirm(failure& why) const& noexcept;
  bool confirm() const&& = delete;
  bool confirm(failure&) const&& = delete;

  // Requested when the hold is lost. Callbacks run on threads that the client has for nothing else: keep them short, and do
  // not call blocking functions of Tyer from them (errc::would_deadlock). A callback that throws ends the process, as in any
  // std::stop_callback. If a callback forks and the child returns from it, the child ends, as by _exit(0). Up to 15 slow
  // callbacks at once delay no others; with more, the rest wait.
  [[nodiscard]] std::stop_token lost() const& noexcept;
  std::stop_token lost() const&& = delete;

  // Requested when somebody asks for the lock (`client::ask`): the holder may release it soon, or ignore it. Callbacks run
  // where those of lost() do, by the same rules; they may release() the hold.
  [[nodiscard]] std::stop_token revoked() const&;
  std::stop_token revoked() const&& = delete;

  // For permits: which of the semaphore's slots, 0 to N-1. Empty for other holds.
  [[nodiscard]] std::span<const std::uint32_t> slot_numbers() const& noexcept;
  std::span<const std::uint32_t> slot_numbers() const&& = delete;  // they live in the hold: name it
  // The first of them; throws errc::not_held if there is none.
  [[nodiscard]] std::uint32_t slot() const&;
  std::uint32_t slot() const&& = delete;

  // For a shared_mutex: exclusive or shared, and changed by a conversion. For a semaphore: permit. Otherwise, and for an
  // empty hold, exclusive.
  [[nodiscard]] lock_mode mode() const noexcept;

  [[nodiscard]] std::string_view name() const& noexcept;
  std::string_view name() const&& = delete;  // it lives in the hold: name that

  // Releases the lock and waits for the engine's answer. The request is repeated until the hold's validity ends, and the last
  // one has `request_timeout` to be answered: so release() returns at the latest that long after valid_until(). The outcome
  // may be ignored. In a callback on a thread of the client, as those of lost() and revoked(), the lock is released without
  // waiting: the outcome is unknown, and `why` is errc::would_deadlock, which is not thrown.
  release_outcome release();
  release_outcome release(failure& why) noexcept;

 private:
  friend struct detail::access;
  explicit hold(std::shared_ptr<detail::hold_state> s) noexcept : state_(std::move(s)) {}

  std::shared_ptr<detail::hold_state> state_;
};

}  // namespace v1
}  // namespace tyer
