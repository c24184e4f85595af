// What a holder sends along with a write, so that the resource can check it.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/hold_id.hpp>
#include <tyer/lock_mode.hpp>

#include <cstdint>

namespace tyer {
inline namespace v1 {

// Plain data: `hold::fence()` gives it, and every fence of <tyer/fence.hpp> and <tyer/sql_fence.hpp> takes it. To pass it to
// another process, send all three members and rebuild it there: `fence_pass{token, hold_id::from(text), mode}`.
struct fence_pass {
  std::uint64_t token = 0;  // larger for every later conflicting grant; 0 means no token, and never passes
  hold_id id{};             // of this hold and no other
  lock_mode mode = lock_mode::exclusive;

  friend constexpr bool operator==(const fence_pass&, const fence_pass&) = default;
};

}  // namespace v1
}  // namespace tyer
