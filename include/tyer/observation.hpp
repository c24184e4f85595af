// Looking on while a lock changes hands.
#pragma once

#include <tyer/export.hpp>

#include <memory>

namespace tyer {
inline namespace v1 {

namespace detail {
class observation_state;
}  // namespace detail

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
