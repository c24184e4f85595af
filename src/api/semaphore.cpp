#include "api/access.hpp"

#include <tyer/semaphore.hpp>

namespace tyer {
inline namespace v1 {

semaphore::semaphore(const client& owner, std::string_view name, std::uint32_t permits, lock_options options,
                     std::source_location where)
    : acquirable(detail::access::make_lock(owner, name, options, where, {engine::mode::permit, 1, permits})) {}

acquirable semaphore::permits(std::uint32_t k) const {
  if (k < 1 || k > max()) {
    throw error(
        {errc::invalid_option, "permits must be from 1 to " + std::to_string(max()) + ", those of the semaphore"});
  }
  auto s = std::make_shared<runtime::spec>(*state_->what);
  s->take = k;
  return acquirable{std::make_shared<detail::lock_state>(state_->home, std::move(s), state_->made_at)};
}

std::uint32_t semaphore::max() const noexcept { return state_->what->capacity; }

}  // namespace v1
}  // namespace tyer
