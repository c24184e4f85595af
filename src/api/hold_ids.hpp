// How the id of a hold is put together.
#pragma once

#include "core/id.hpp"

#include <tyer/hold_id.hpp>

#include <cstdint>

namespace tyer {
inline namespace v1 {
namespace detail {

// `handoffs`: inside the client, since the engine's grant.
inline hold_id id_of(const core::id& who, std::uint8_t handoffs) {
  const auto last = static_cast<char>(handoffs);
  return hold_id::from(core::to_hex(who) + core::to_hex({&last, 1}));
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
