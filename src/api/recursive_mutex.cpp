#include "api/recursive_name.hpp"

#include <tyer/recursive_mutex.hpp>

#include <utility>

namespace tyer {
inline namespace v1 {

namespace detail {

// One object: the lock that it acquires, and its own share of the name's lock count.
class recursive_face {
 public:
  recursive_face(std::shared_ptr<const lock_state> s, std::shared_ptr<recursive_names> all)
      : lock(std::move(s)), names(std::move(all)), name(names->find_or_make(lock->what->name, *lock->home)) {}
  recursive_face(const recursive_face&) = delete;
  recursive_face& operator=(const recursive_face&) = delete;
  ~recursive_face() {
    if (name->forked() || lock->home->forked()) return;
    name->forget(counted);
    name.reset();
    names->drop_if_unused(lock->what->name);
  }

  const std::shared_ptr<const lock_state> lock;
  const std::shared_ptr<recursive_names> names;
  std::shared_ptr<recursive_name> name;
  std::uint32_t counted = 0;
};

}  // namespace detail

recursive_mutex::recursive_mutex(const client& owner, std::string_view name, lock_options options,
                                 std::source_location where) {
  auto lock = detail::access::make_lock(owner, name, options, where);  // throws if the client was moved from
  face_ = std::make_shared<detail::recursive_face>(std::move(lock), detail::access::state(owner)->recursive);
}

void recursive_mutex::lock() { face_->name->lock(*face_->lock, face_->counted); }
bool recursive_mutex::try_lock() { return face_->name->try_lock(*face_->lock, face_->counted); }
bool recursive_mutex::try_lock_within(std::chrono::nanoseconds at_most) {
  return face_->name->try_lock_within(*face_->lock, at_most, face_->counted);
}
void recursive_mutex::unlock() noexcept { face_->name->unlock(face_->counted); }

const hold& recursive_mutex::held() const& { return face_->name->held(); }
std::uint32_t recursive_mutex::depth() const noexcept { return face_->name->depth(); }
std::string_view recursive_mutex::name() const& noexcept { return face_->lock->what->name; }

}  // namespace v1
}  // namespace tyer
