// The state that a hold shares with the runtime: the deadline, whether it is over, and the stop_sources behind lost() and
// revoked().
//
// Thread safety: the atomics and the stop_sources may be used from any thread; `at_coordinator` belongs to the coordinator.
#pragma once

#include "core/hold_key.hpp"
#include "core/token.hpp"
#include "lease/terms.hpp"
#include "runtime/fork.hpp"
#include "runtime/spec.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <source_location>
#include <stop_token>
#include <utility>
#include <vector>

namespace tyer::runtime {
class client_runtime;
class note;
struct ticket;
}  // namespace tyer::runtime

namespace tyer {
inline namespace v1 {
namespace detail {

class hold_state {
 public:
  enum class phase : std::uint8_t { held, lost, released };

  struct grant {
    std::uint64_t token;  // 0: the engine has none
    lease::time_point at;
    lease::time_point valid_until, alarm_at;
    engine::mode how;
    std::vector<std::uint32_t> slots;
    core::hold_key key;
    lease::time_point asked_at = {};  // by its caller, and where
    std::source_location where = {};
  };

  hold_state(std::shared_ptr<const runtime::spec> what, const core::id& who, grant g)
      : what_(std::move(what)),
        who_(who),
        handoffs_(core::handoffs_of(g.token)),
        granted_at_(g.at),
        asked_at_(g.asked_at),
        where_(g.where),
        ends_at_(what_->max_hold.count() > 0 ? g.at + what_->max_hold : lease::time_point::max()),
        slots_(std::move(g.slots)),
        key_(std::move(g.key)),
        token_(g.token),
        how_(g.how),
        valid_until_(std::min(g.valid_until, ends_at_).time_since_epoch().count()),
        alarm_at_(std::min(g.alarm_at, last_alarm()).time_since_epoch().count()) {}

  const runtime::spec& what() const noexcept { return *what_; }
  const std::shared_ptr<const runtime::spec>& terms() const noexcept { return what_; }
  const core::id& who() const noexcept { return who_; }
  // The number of hand-offs before this hold since the engine's grant: with `who` it identifies the hold. Unlike the token
  // it never changes.
  std::uint8_t handoffs() const noexcept { return handoffs_; }
  std::uint64_t token() const noexcept { return token_.load(std::memory_order_acquire); }
  engine::mode how() const noexcept { return how_.load(std::memory_order_acquire); }
  // Both read together: a token belongs to the mode that it was granted for.
  std::pair<engine::mode, std::uint64_t> standing() const {
    const std::lock_guard lock{mutex_};
    return {how(), token()};
  }
  const std::vector<std::uint32_t>& slots() const noexcept { return slots_; }
  const core::hold_key& key() const noexcept { return key_; }

  lease::time_point granted_at() const noexcept { return granted_at_; }
  lease::time_point asked_at() const noexcept { return asked_at_; }
  const std::source_location& where_asked() const noexcept { return where_; }
  // Not released to others before this time, and not valid after it.
  lease::time_point free_at() const noexcept {
    return unused_.load(std::memory_order_acquire) ? granted_at_ : granted_at_ + what_->min_hold;
  }
  lease::time_point ends_at() const noexcept { return ends_at_; }

  lease::time_point valid_until() const noexcept {
    return lease::time_point{lease::duration{valid_until_.load(std::memory_order_acquire)}};
  }
  // When its owner must be told that it is over.
  lease::time_point alarm_at() const noexcept {
    return lease::time_point{lease::duration{alarm_at_.load(std::memory_order_acquire)}};
  }
  phase where() const noexcept { return phase_.load(std::memory_order_acquire); }
  // In a forked child the hold is not renewed and its end is not noticed, so it is never valid there.
  bool forked() const noexcept { return birth_.forked(); }
  bool valid(lease::time_point now) const noexcept {
    return where() == phase::held && now < valid_until() && !forked();
  }
  std::stop_token lost() const noexcept { return lost_.get_token(); }
  // Made when somebody asks for it: few do, and a stop_source is an allocation.
  std::stop_token revoked() const {
    const std::lock_guard lock{mutex_};
    if (!revoked_.stop_possible()) {
      revoked_ = std::stop_source{};
      if (was_revoked_) revoked_.request_stop();
    }
    return revoked_.get_token();
  }

  // Renewed. Only ever later, and never after it is over.
  void extend(lease::time_point until, lease::time_point alarm) noexcept {
    if (where() != phase::held) return;
    valid_until_.store(std::min(until, ends_at_).time_since_epoch().count(), std::memory_order_release);
    alarm_at_.store(std::min(alarm, last_alarm()).time_since_epoch().count(), std::memory_order_release);
  }
  // Upgraded or downgraded.
  void become(engine::mode how, std::uint64_t token) noexcept {
    const std::lock_guard lock{mutex_};
    how_.store(how, std::memory_order_release);
    token_.store(token, std::memory_order_release);
  }
  // True for the one caller that ended it: only that one requests lost().
  bool end(phase how) noexcept {
    phase held = phase::held;
    return phase_.compare_exchange_strong(held, how, std::memory_order_acq_rel);
  }
  // It is released before its owner could use it, so min_hold does not apply.
  void never_used() noexcept { unused_.store(true, std::memory_order_release); }
  // Its owner has dropped it, but had no memory to submit the release: the coordinator notices at the next renewal.
  void abandon() noexcept { abandoned_.store(true, std::memory_order_release); }
  bool abandoned() const noexcept { return abandoned_.load(std::memory_order_acquire); }

  void tell_lost() noexcept { lost_.request_stop(); }
  void tell_revoked() {
    std::unique_lock lock{mutex_};
    was_revoked_ = true;
    auto source = revoked_;
    lock.unlock();
    source.request_stop();
  }

  std::weak_ptr<runtime::client_runtime> home;  // where to release it; expires with the client
  runtime::ticket* at_coordinator = nullptr;    // the coordinator's own: null once it has another owner or is over

  std::shared_ptr<runtime::note> noted;  // the owner's own; null unless the client notes who has what

  // The herald's own: its place in the herald's queue.
  struct {
    std::shared_ptr<hold_state> behind;
    std::chrono::steady_clock::time_point since;
    unsigned char what = 0;
    bool waits = false;
  } telling;

 private:
  lease::time_point last_alarm() const noexcept {
    return ends_at_ == lease::time_point::max() ? ends_at_ : lease::alarm_at(ends_at_, what_->ttl);
  }

  const runtime::birth birth_;
  std::shared_ptr<const runtime::spec> what_;
  core::id who_;
  std::uint8_t handoffs_;
  lease::time_point granted_at_, asked_at_;
  std::source_location where_;
  lease::time_point ends_at_;
  std::vector<std::uint32_t> slots_;
  core::hold_key key_;
  std::atomic<std::uint64_t> token_;
  std::atomic<engine::mode> how_;
  std::atomic<std::int64_t> valid_until_, alarm_at_;
  std::atomic<phase> phase_{phase::held};
  std::atomic<bool> unused_{false};
  std::atomic<bool> abandoned_{false};
  std::stop_source lost_;

  mutable std::mutex mutex_;  // protects what follows, and token_ with how_ where both are read together
  mutable std::stop_source revoked_{std::nostopstate};
  bool was_revoked_ = false;
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
