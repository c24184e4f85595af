// The seam below <tyer/asio.hpp>: asynchronous calls with plain callbacks. Not for direct use.
#pragma once

#include <tyer/acquirable.hpp>
#include <tyer/error.hpp>
#include <tyer/export.hpp>
#include <tyer/hold.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>

namespace tyer {
inline namespace v1 {
namespace detail {

// Called once, on a thread of Tyer's, and must only pass the answer on: it runs between two requests.
struct acquire_handler {
  virtual ~acquire_handler() = default;
  virtual void done(failure, hold) = 0;
};
struct release_handler {
  virtual ~release_handler() = default;
  virtual void done(failure, release_outcome) = 0;
};

// An acquire under way. Cancelling one that is over does nothing.
class TYER_EXPORT pending_acquire {
 public:
  virtual ~pending_acquire() = default;
  virtual void cancel() = 0;
};

struct acquire_terms {
  bool waits = true;                                     // false: one attempt
  std::optional<std::chrono::nanoseconds> at_most = {};  // an empty hold then, or errc::unavailable
  std::source_location where = std::source_location::current();
};

TYER_EXPORT std::shared_ptr<pending_acquire> start_acquire(const acquirable&, const acquire_terms&,
                                                           std::unique_ptr<acquire_handler>);
TYER_EXPORT void start_release(hold, std::unique_ptr<release_handler>);

// Where completions of handlers without an executor of their own run: the client's `completions`, else a thread of the
// client.
TYER_EXPORT std::function<void(std::function<void()>)> default_executor(const acquirable&);
TYER_EXPORT std::function<void(std::function<void()>)> default_executor(const hold&);

}  // namespace detail
}  // namespace v1
}  // namespace tyer
