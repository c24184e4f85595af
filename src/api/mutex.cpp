#include "api/std_face.hpp"

#include <tyer/mutex.hpp>

namespace tyer {
inline namespace v1 {

mutex::mutex(const client& owner, std::string_view name, lock_options options, std::source_location where)
    : acquirable(detail::access::make_lock(owner, name, options, where)),
      face_(std::make_shared<detail::std_face>(*state_->home)) {}

void mutex::lock() { face_->lock(*state_); }
bool mutex::try_lock() { return face_->try_lock(*state_); }
bool mutex::try_lock_within(std::chrono::nanoseconds at_most) { return face_->try_lock_within(*state_, at_most); }
void mutex::unlock() noexcept { face_->unlock(); }
const hold& mutex::held() const& { return face_->held(); }

}  // namespace v1
}  // namespace tyer
