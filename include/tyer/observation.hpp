// Observing who holds a lock.
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

// Called when a read fails: the engine is away (errc::unavailable), or has answered with an error (errc::refused, for example
// if a permission is missing). The same error is reported once, and not again until a read has succeeded; that read is always
// reported. It runs where the other function does, and never at the same time.
using look_failed = std::function<void(const failure&)>;

// Observes for as long as it lives. The destructor stops it and waits for a running callback, unless that callback destroys
// the observation. Stopping never fails; when memory is exhausted, the engine may be read once more.
//
// Callbacks run one at a time. While one runs, only the latest state is kept for the next call; states in between are
// skipped. So a slow callback costs no memory, and other completions run between two calls.
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
