// Opening a client on parts that are already made: from a URI, or from a test's own engine and clock.
#pragma once

#include "api/access.hpp"

#include <tyer/options.hpp>

namespace tyer {
inline namespace v1 {
namespace detail {

// The user's log, in the midst of our work, on whichever thread drives the engine: it can neither wait there for that thread itself
// (errc::would_deadlock) nor take it away by throwing.
log_hook careful(log_hook log);

std::shared_ptr<client_state> open_client(runtime::client_runtime::parts parts, const client_options& options,
                                          std::string address, std::string identity);

}  // namespace detail
}  // namespace v1
}  // namespace tyer
