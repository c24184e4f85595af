// A client for who makes locks of it later. Not for direct use.
#pragma once

#include <tyer/client.hpp>
#include <tyer/export.hpp>

#include <memory>

namespace tyer {
inline namespace v1 {
namespace detail {

// The same client, wherever its object is by then: moved, or gone, and then its locks say errc::closed. Its end closes nothing.
TYER_EXPORT std::shared_ptr<const client> same_client(const client&);

}  // namespace detail
}  // namespace v1
}  // namespace tyer
