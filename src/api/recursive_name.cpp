#include "api/recursive_name.hpp"

#include "core/thread_number.hpp"

#include <limits>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

bool recursive_name::inside() const noexcept { return depth_ > 0 && owner_ == core::this_thread(); }

bool recursive_name::enter_again(std::uint32_t& counted) {
  if (face_.forked()) return false;  // the child's thread has the same number as the owner in the parent
  const std::lock_guard in{mutex_};
  if (!inside()) return false;
  if (!face_.held().valid()) throw error(errc::lost);
  if (depth_ == std::numeric_limits<std::uint32_t>::max()) throw error(errc::over_limit);
  ++depth_;
  ++counted;
  return true;
}

void recursive_name::enter(std::uint32_t& counted) noexcept {
  const std::lock_guard in{mutex_};
  owner_ = core::this_thread();
  depth_ = counted = 1;
}

void recursive_name::lock(const lock_state& s, std::uint32_t& counted) {
  if (enter_again(counted)) return;
  face_.lock_of_others(s);
  enter(counted);
}

bool recursive_name::try_lock(const lock_state& s, std::uint32_t& counted) {
  if (enter_again(counted)) return true;
  if (!face_.try_lock(s)) return false;
  enter(counted);
  return true;
}

bool recursive_name::try_lock_within(const lock_state& s, std::chrono::nanoseconds at_most, std::uint32_t& counted) {
  if (enter_again(counted)) return true;
  if (!face_.try_lock_within(s, at_most)) return false;
  enter(counted);
  return true;
}

// True if the count is zero now: then the caller unlocks the face, and the next thread comes in.
bool recursive_name::take_off(std::uint32_t n) noexcept {
  depth_ -= n;
  return depth_ == 0;
}

void recursive_name::unlock(std::uint32_t& counted) noexcept {
  if (face_.forked()) return;
  {
    const std::lock_guard in{mutex_};
    if (counted == 0 || !inside()) return;
    --counted;
    if (!take_off(1)) return;
  }
  face_.unlock();
}

void recursive_name::forget(std::uint32_t counted) noexcept {
  if (face_.forked() || counted == 0) return;
  {
    const std::lock_guard in{mutex_};
    if (!take_off(counted)) return;
  }
  face_.unlock();
}

const hold& recursive_name::held() const {
  if (face_.forked()) throw error(errc::forked);
  const std::lock_guard in{mutex_};
  if (!inside()) throw error(errc::not_held);
  return face_.held();
}

std::uint32_t recursive_name::depth() const noexcept {
  if (face_.forked()) return 0;
  const std::lock_guard in{mutex_};
  return inside() ? depth_ : 0;
}

std::shared_ptr<recursive_name> recursive_names::find_or_make(std::string_view name, const runtime::client_runtime& h) {
  if (h.forked()) return std::make_shared<recursive_name>(h);  // all its calls fail
  auto fresh = std::make_shared<recursive_name>(h);
  const std::lock_guard in{mutex_};
  const auto at = names_.try_emplace(std::string{name}).first;
  if (auto there = at->second.lock()) return there;
  at->second = fresh;
  return fresh;
}

void recursive_names::drop_if_unused(std::string_view name) noexcept {
  const std::lock_guard in{mutex_};
  const auto at = names_.find(name);
  if (at != names_.end() && at->second.expired()) names_.erase(at);
}

std::size_t recursive_names::size() const {
  const std::lock_guard in{mutex_};
  return names_.size();
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
