// A second client object for code that makes locks later. Not for direct use.
#pragma once

#include <tyer/client.hpp>
#include <tyer/export.hpp>

#include <memory>

namespace tyer {
inline namespace v1 {
namespace detail {

// Refers to the same client even after the original object was moved; if that is gone, new locks fail with errc::closed.
// Destroying this one closes nothing.
TYER_EXPORT std::shared_ptr<const client> same_client(const client&);

}  // namespace detail
}  // namespace v1
}  // namespace tyer
