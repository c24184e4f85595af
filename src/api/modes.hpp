// Modes as users and as engines name them.
#pragma once

#include "engine/engine.hpp"

#include <tyer/lock_mode.hpp>

namespace tyer {
inline namespace v1 {
namespace detail {

inline lock_mode mode_of(engine::mode m) noexcept {
  switch (m) {
    case engine::mode::exclusive: return lock_mode::exclusive;
    case engine::mode::shared: return lock_mode::shared;
    case engine::mode::permit: break;
  }
  return lock_mode::permit;
}
inline engine::mode mode_of(lock_mode m) noexcept {
  switch (m) {
    case lock_mode::exclusive: return engine::mode::exclusive;
    case lock_mode::shared: return engine::mode::shared;
    case lock_mode::permit: break;
  }
  return engine::mode::permit;
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
