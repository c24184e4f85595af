// How a lock is held.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <cstdint>

namespace tyer {
inline namespace v1 {

enum class lock_mode : std::uint8_t {
  exclusive,  // alone
  shared,     // beside other readers
  permit,     // one or more permits of a semaphore
};

}  // namespace v1
}  // namespace tyer
