// Opening a client on parts that are already made: from a URI, or from a test's own engine and clock.
#pragma once

#include "api/access.hpp"

#include <tyer/options.hpp>

namespace tyer {
inline namespace v1 {
namespace detail {

std::shared_ptr<client_state> open_client(runtime::house::parts parts, const client_options& options,
                                          std::string address, std::string identity);

}  // namespace detail
}  // namespace v1
}  // namespace tyer
