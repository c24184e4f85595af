// How a header says that an argument is wrong. Not for direct use.
#pragma once

#include <cstdlib>
#include <stdexcept>

namespace tyer {
inline namespace v1 {
namespace detail {

// With -fno-exceptions it ends the process.
[[noreturn]] inline void refuse(const char* words) {
#if defined(__cpp_exceptions)
  throw std::invalid_argument{words};
#else
  static_cast<void>(words);
  std::abort();
#endif
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
