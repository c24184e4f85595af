// What a hold and the runtime share: the deadline, whether it is over, and the stop_source behind lost().
//
// Thread safety: the atomics and the stop_source may be used from any thread; `at_desk` belongs to the desk.
#pragma once

#include "lease/terms.hpp"
#include "runtime/spec.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>

namespace tyer::runtime {
class house;
struct ticket;
}  // namespace tyer::runtime

namespace tyer {
inline namespace v1 {
namespace detail {

class hold_state {
 public:
  enum class phase : std::uint8_t { held, lost, released };

  hold_state(std::shared_ptr<const runtime::spec> what, const core::id& who, std::uint64_t token,
             lease::time_point valid_until)
      : what_(std::move(what)), who_(who), token_(token), valid_until_(valid_until.time_since_epoch().count()) {}

  const runtime::spec& what() const noexcept { return *what_; }
  const core::id& who() const noexcept { return who_; }
  std::uint64_t token() const noexcept { return token_; }

  lease::time_point valid_until() const noexcept {
    return lease::time_point{lease::duration{valid_until_.load(std::memory_order_acquire)}};
  }
  phase where() const noexcept { return phase_.load(std::memory_order_acquire); }
  bool valid(lease::time_point now) const noexcept { return where() == phase::held && now < valid_until(); }
  std::stop_token lost() const noexcept { return stop_.get_token(); }

  // Renewed. Only ever later, and never after it is over.
  void extend(lease::time_point until) noexcept {
    if (where() == phase::held) valid_until_.store(until.time_since_epoch().count(), std::memory_order_release);
  }
  // True for the one caller that ended it: only that one tells lost().
  bool end(phase how) noexcept {
    phase held = phase::held;
    return phase_.compare_exchange_strong(held, how, std::memory_order_acq_rel);
  }
  void tell_lost() noexcept { stop_.request_stop(); }

  std::weak_ptr<runtime::house> home;  // where to give it back; gone with the client
  runtime::ticket* at_desk = nullptr;  // the desk's own: null once the engine's hold is another's or over

 private:
  std::shared_ptr<const runtime::spec> what_;
  core::id who_;
  std::uint64_t token_;
  std::atomic<std::int64_t> valid_until_;
  std::atomic<phase> phase_{phase::held};
  std::stop_source stop_;
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
