#include "api/access.hpp"

#include <tyer/mutex.hpp>

#include <new>
#include <utility>

namespace tyer {
inline namespace v1 {

namespace {

using primitives::patience;

hold acquire_or_tell(detail::mutex_state& s, const patience& p, std::stop_token stop, const std::source_location& where,
                     failure& why) noexcept {
  try {
    auto got = primitives::acquire_blocking(*s.home, s.what, p, std::move(stop), where);
    why = std::move(got.error);
    return detail::access::make_hold(s.home, std::move(got.hold));
  } catch (const std::bad_alloc&) {
    why = std::make_error_code(std::errc::not_enough_memory);
  } catch (const std::system_error& e) {
    why = e.code();
  }
  return {};
}

hold acquire_or_throw(detail::mutex_state& s, const patience& p, std::stop_token stop,
                      const std::source_location& where) {
  failure why;
  hold h = acquire_or_tell(s, p, std::move(stop), where, why);
  if (why) throw error(why);
  return h;
}

}  // namespace

mutex::mutex(const client& owner, std::string_view name, lock_options options, std::source_location where) {
  const auto& c = detail::access::state(owner);
  if (!c) throw error(errc::closed);
  state_ = std::make_shared<detail::mutex_state>(c->home,
                                                 primitives::make_mutex_spec(*c->home, name, options, c->owner), where);
}

mutex::~mutex() = default;

std::string_view mutex::name() const noexcept { return state_->what->name; }

hold mutex::acquire(std::source_location where) { return acquire_or_throw(*state_, patience::for_ever(), {}, where); }
hold mutex::acquire(std::stop_token stop, std::source_location where) {
  return acquire_or_throw(*state_, patience::for_ever(), std::move(stop), where);
}
hold mutex::acquire(failure& why, std::stop_token stop, std::source_location where) noexcept {
  return acquire_or_tell(*state_, patience::for_ever(), std::move(stop), where, why);
}

hold mutex::try_acquire(std::source_location where) { return acquire_or_throw(*state_, patience::once(), {}, where); }
hold mutex::try_acquire(failure& why, std::source_location where) noexcept {
  return acquire_or_tell(*state_, patience::once(), {}, where, why);
}

hold mutex::try_acquire_for(std::chrono::nanoseconds at_most, std::stop_token stop, std::source_location where) {
  return acquire_or_throw(*state_, patience::within(at_most), std::move(stop), where);
}
hold mutex::try_acquire_for(failure& why, std::chrono::nanoseconds at_most, std::stop_token stop,
                            std::source_location where) noexcept {
  return acquire_or_tell(*state_, patience::within(at_most), std::move(stop), where, why);
}

// ---- the standard face

void mutex::lock() {
  hold h = acquire_or_throw(*state_, patience::for_ever(), {}, state_->made_at);
  state_->gate.acquire();
  state_->held = std::move(h);
}

bool mutex::try_lock() {
  if (!state_->gate.try_acquire()) return false;
  failure why;
  hold h = acquire_or_tell(*state_, patience::once(), {}, state_->made_at, why);
  if (!h) {
    state_->gate.release();
    if (why) throw error(why);
    return false;
  }
  state_->held = std::move(h);
  return true;
}

bool mutex::try_lock_within(std::chrono::nanoseconds at_most) {
  using clock = std::chrono::steady_clock;
  const auto now = clock::now();
  const auto limit = at_most < clock::time_point::max() - now ? now + at_most : clock::time_point::max();
  hold h = acquire_or_throw(*state_, patience::within(at_most), {}, state_->made_at);
  if (!h || !state_->gate.try_acquire_until(limit)) return false;
  state_->held = std::move(h);
  return true;
}

void mutex::unlock() noexcept {
  hold mine = std::move(state_->held);  // given back at the end, when the gate is open for whom it goes to
  state_->gate.release();
}

const hold& mutex::held() const {
  if (!state_->held) throw error(errc::not_held);
  return state_->held;
}

}  // namespace v1
}  // namespace tyer
