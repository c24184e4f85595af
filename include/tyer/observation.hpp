// Looking on while a lock changes hands.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/error.hpp>
#include <tyer/export.hpp>

#include <functional>
#include <memory>

namespace tyer {
inline namespace v1 {

namespace detail {
class observation_state;
}  // namespace detail

// Is told when nothing could be seen: the engine is away (errc::unavailable), or has answered with an error (errc::refused, as for
// want of a right). Once, until something is seen again, which is told then in any case, or until it is another error. It runs
// where the other function does, and in turn with it.
using look_failed = std::function<void(const failure&)>;

// Looks on for as long as it lives. Stops when destroyed; a callback under way is waited for, unless it is the one that
// destroys it. To stop never fails: without memory the engine may be looked at once more.
//
// Callbacks run one at a time. While one runs, what is new waits for it, and only the latest: it is told what is, not all that
// was in between. So a slow callback costs no memory, and completions of others have their turn after each call.
class [[nodiscard]] TYER_EXPORT observation {
 public:
  observation() noexcept = default;
  observation(observation&&) noexcept;
  observation& operator=(observation&&) noexcept;
  ~observation();

 private:
  friend class election;
  friend class admin;
  explicit observation(std::shared_ptr<detail::observation_state> s) noexcept;
  std::shared_ptr<detail::observation_state> state_;
};

}  // namespace v1
}  // namespace tyer
