// What asynchronous calls and observations have in common.
#pragma once

#include "primitives/call.hpp"

#include <tyer/detail/async.hpp>

namespace tyer {
inline namespace v1 {
namespace detail {

inline failure no_function() { return {errc::invalid_option, "there is no function to tell"}; }

inline primitives::patience patience_of(const acquire_terms& terms) {
  if (!terms.waits) return primitives::patience::once();
  return terms.at_most ? primitives::patience::within(*terms.at_most) : primitives::patience::for_ever();
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
