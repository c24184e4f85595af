#include "api/std_face.hpp"

#include <tyer/recursive_mutex.hpp>

#include <atomic>
#include <limits>
#include <thread>

namespace tyer {
inline namespace v1 {

namespace detail {

class recursive_face {
 public:
  explicit recursive_face(std::shared_ptr<const lock_state> s) : lock(std::move(s)), face(*lock->home) {}

  // In a forked child the thread has the same id as the owner in the parent.
  bool mine() const noexcept {
    return owner.load(std::memory_order_relaxed) == std::this_thread::get_id() && !face.forked();
  }

  // The owner comes again. Only it reads or writes the count.
  void enter_again() {
    if (!face.held().valid()) throw error(errc::lost);
    if (depth == std::numeric_limits<std::uint32_t>::max()) throw error(errc::over_limit);
    ++depth;
  }
  void enter() noexcept {
    depth = 1;
    owner.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }

  const std::shared_ptr<const lock_state> lock;
  std_face face;
  std::atomic<std::thread::id> owner{};
  std::uint32_t depth = 0;
};

}  // namespace detail

recursive_mutex::recursive_mutex(const client& owner, std::string_view name, lock_options options,
                                 std::source_location where)
    : face_(std::make_shared<detail::recursive_face>(detail::access::make_lock(owner, name, options, where))) {}

void recursive_mutex::lock() {
  if (face_->mine()) return face_->enter_again();
  face_->face.lock(*face_->lock);
  face_->enter();
}

bool recursive_mutex::try_lock() {
  if (face_->mine()) {
    face_->enter_again();
    return true;
  }
  if (!face_->face.try_lock(*face_->lock)) return false;
  face_->enter();
  return true;
}

bool recursive_mutex::try_lock_within(std::chrono::nanoseconds at_most) {
  if (face_->mine()) {
    face_->enter_again();
    return true;
  }
  if (!face_->face.try_lock_within(*face_->lock, at_most)) return false;
  face_->enter();
  return true;
}

void recursive_mutex::unlock() noexcept {
  if (face_->face.forked()) return;
  if (--face_->depth > 0) return;
  face_->owner.store({}, std::memory_order_relaxed);
  face_->face.unlock();
}

const hold& recursive_mutex::held() const {
  if (!face_->mine()) throw error(face_->face.forked() ? errc::forked : errc::not_held);
  return face_->face.held();
}

std::uint32_t recursive_mutex::depth() const noexcept { return face_->mine() ? face_->depth : 0; }

std::string_view recursive_mutex::name() const noexcept { return face_->lock->what->name; }

}  // namespace v1
}  // namespace tyer
