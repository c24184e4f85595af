// A mutex object: which lock it means, and the local gate behind its standard face.
#pragma once

#include "primitives/call.hpp"

#include <tyer/hold.hpp>
#include <tyer/options.hpp>

#include <memory>
#include <mutex>
#include <semaphore>
#include <source_location>

namespace tyer {
inline namespace v1 {
namespace detail {

class mutex_state {
 public:
  mutex_state(std::shared_ptr<runtime::house> home, std::shared_ptr<const runtime::spec> what,
              const std::source_location& made_at)
      : home(std::move(home)), what(std::move(what)), made_at(made_at) {}

  const std::shared_ptr<runtime::house> home;
  const std::shared_ptr<const runtime::spec> what;
  const std::source_location made_at;

  // Closed from lock() to unlock(), even if the hold is lost meanwhile: nobody unlocks somebody else's hold. It is
  // passed *after* the lock was acquired, so callers queue where hand-off sees them, and not here.
  std::binary_semaphore gate{1};
  hold held;  // the owner's, between lock and unlock
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer

namespace tyer::primitives {

// The lock that the options describe on what the engine can do; throws tyer::error.
std::shared_ptr<const spec> make_mutex_spec(const house& h, std::string_view name, const lock_options& options,
                                            const std::string& owner);

}  // namespace tyer::primitives
