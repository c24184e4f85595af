// What a hold shows to what it writes to.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/hold_id.hpp>
#include <tyer/lock_mode.hpp>

#include <cstdint>

namespace tyer {
inline namespace v1 {

// Plain data: `hold::fence()` gives it, and every fence of <tyer/fence.hpp> and <tyer/sql_fence.hpp> takes it. To show it to
// another process send all three, and make it anew there: `fence_pass{token, hold_id::from(text), mode}`.
struct fence_pass {
  std::uint64_t token = 0;  // larger for every later conflicting grant; 0 is none, and never passes
  hold_id id{};             // of this hold and no other
  lock_mode mode = lock_mode::exclusive;

  friend constexpr bool operator==(const fence_pass&, const fence_pass&) = default;
};

}  // namespace v1
}  // namespace tyer
