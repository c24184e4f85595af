// Opens a client on existing parts: made from a URI, or a test's own engine and clock.
#pragma once

#include "api/access.hpp"

#include <tyer/options.hpp>

namespace tyer {
inline namespace v1 {
namespace detail {

// Wraps the user's log hook, which runs inside our code on the thread that drives the engine: a blocking call in it fails
// with errc::would_deadlock, and an exception does not end that thread.
log_hook careful(log_hook log);

std::shared_ptr<client_state> open_client(runtime::client_runtime::parts parts, const client_options& options,
                                          std::string address, std::string identity);

}  // namespace detail
}  // namespace v1
}  // namespace tyer
