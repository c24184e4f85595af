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
  unknown,  // no answer to what was asked within the hold's validity; the engine frees it at the latest after the ttl
};

// A held lock: move-only, owned by whoever has the object, whatever the thread.
//
//   state     | valid() | lost()          | fence() ...   | destructor
//   ----------+---------+-----------------+---------------+------------------------------------
//   empty     | false   | never requested | throws        | nothing (also after release() and when moved from)
//   held      | true    | not requested   | yes           | hands the release over, returns at once
//   lost      | false   | requested       | yes           | as held; the engine finds out by id that it is gone
//
// Renewal goes on in the background for as long as the object lives. valid() and valid_until() cost no network: the
// deadline is counted from *sending* the last confirmed grant or renewal, so the engine never gives the lock to somebody
// else before it. lost() is requested before valid_until() while the process runs; after a pause (SIGSTOP, suspend)
// valid() is false at once and lost() follows within 50 ms.
//
// Nothing can stop a paused process from believing. Show fence() to what you write to, and let it refuse smaller
// tokens (<tyer/fence.hpp>). After fork() the child's copy is as a lost one, and token(), id() and fence() throw errc::forked.
//
// Thread safety: const members may be called from any thread; others like any object.
// When the engine is away: the hold stays valid until its deadline, then it is lost.
class [[nodiscard]] TYER_EXPORT hold {
 public:
  hold() noexcept = default;
  hold(hold&&) noexcept = default;
  hold& operator=(hold&&) noexcept;
  hold(const hold&) = delete;
  hold& operator=(const hold&) = delete;
  ~hold();

  // True if it was acquired and not given back yet. Says nothing about validity: that is valid().
  explicit operator bool() const& noexcept { return state_ != nullptr; }
  // A hold without a name ends with the condition that asks it: the lock would be given back before the first line of the body.
  explicit operator bool() const&& = delete;  // name the hold: if (tyer::hold h = m.try_acquire())

  // Token, id and mode together, for what you write to: every fence takes it. Throws as token() does.
  [[nodiscard]] fence_pass fence() const&;
  fence_pass fence() const&& = delete;  // name the hold: here and below, without a name it would be given back at once

  // Larger for every later conflicting grant of this name; fits a signed 64-bit column. An upgrade or a downgrade gives
  // the hold a new one. Throws errc::unsupported where the engine has none (redis://…?protocol=redisson).
  [[nodiscard]] std::uint64_t token() const&;
  std::uint64_t token() const&& = delete;

  // Of this hold and no other; the same for as long as it lives. Where a failover can make two holds have the same token
  // (Sentinel, Cluster), it tells them apart; fence() has both.
  [[nodiscard]] hold_id id() const;

  // Without a name too, for who wants to know no more than whether it could be had.
  [[nodiscard]] bool valid() const noexcept;
  // Of an empty hold, and of one that came through fork: the epoch of the clock, long ago.
  [[nodiscard]] lease_clock::time_point valid_until() const noexcept;
  [[nodiscard]] lease_clock::duration remaining() const noexcept;  // zero when over

  // Asks the engine now, in one round trip, for when a deadline is not enough: before something that cannot be taken back.
  //
  //   answer                   | meaning
  //   -------------------------+--------------------------------------------------------------------------------------
  //   true                     | it stood when the engine answered, and is renewed by that: valid_until() is later
  //   false                    | it is lost; lost() is requested by another thread, perhaps a moment later
  //   throws, or tells a `why` | nobody knows: errc::unavailable after `request_timeout` at the latest, ... The hold is as before
  //
  // Of one hold a question is under way at a time; whoever asks meanwhile shares the next.
  // Not a fence either: what is true may be over before it is read. Throws errc::not_held for an empty hold.
  [[nodiscard]] bool confirm() const&;
  [[nodiscard]] bool confirm(failure& why) const& noexcept;
  bool confirm() const&& = delete;
  bool confirm(failure&) const&& = delete;

  // Requested when the hold is lost. Callbacks run on threads that the client has for nothing else: keep them short, and do not
  // call blocking functions of Tyer from them (errc::would_deadlock). One that throws ends the process, as any of a
  // std::stop_callback does. A child that is forked in one and comes back from it ends, as by _exit(0). Up to 15 slow ones at once delay nobody else's; with more, the rest wait.
  [[nodiscard]] std::stop_token lost() const& noexcept;
  std::stop_token lost() const&& = delete;

  // Requested when somebody asks for the lock (`client::ask`): the holder may give it back soon, or not. Callbacks run where those
  // of lost() do, and by the same rules; to release() the hold there is allowed.
  [[nodiscard]] std::stop_token revoked() const&;
  std::stop_token revoked() const&& = delete;

  // Of permits: which of the semaphore's slots, 0 to N-1. Empty for other holds.
  [[nodiscard]] std::span<const std::uint32_t> slots() const& noexcept;
  std::span<const std::uint32_t> slots() const&& = delete;  // they live in the hold: name it
  // The first of them; throws errc::not_held if there is none.
  [[nodiscard]] std::uint32_t slot() const&;
  std::uint32_t slot() const&& = delete;

  // Of a shared_mutex: exclusive or shared, and another after a conversion. Of a semaphore: permit. Else, and of an empty hold,
  // exclusive.
  [[nodiscard]] lock_mode mode() const noexcept;

  [[nodiscard]] std::string_view name() const& noexcept;
  std::string_view name() const&& = delete;  // it lives in the hold: name that

  // Gives the lock back and waits for the engine's answer: it is asked until the hold's validity ends, and what was asked by
  // then has `request_timeout` to be answered: it returns at the latest that long after valid_until(). Whoever does not care for
  // the outcome may drop it. In a callback that runs on a thread of the client, as those of lost() and revoked() do, it is given
  // back without waiting: the outcome is unknown, and `why` is errc::would_deadlock, which is not thrown.
  release_outcome release();
  release_outcome release(failure& why) noexcept;

 private:
  friend struct detail::access;
  explicit hold(std::shared_ptr<detail::hold_state> s) noexcept : state_(std::move(s)) {}

  std::shared_ptr<detail::hold_state> state_;
};

}  // namespace v1
}  // namespace tyer
