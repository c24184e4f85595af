// How a header says that an argument is wrong. Not for direct use.
#pragma once

#include <tyer/export.hpp>

namespace tyer {
inline namespace v1 {
namespace detail {

// Throws std::invalid_argument; a program without exceptions ends. It lives in the library, and not here: where one file of a
// program is compiled with -fno-exceptions and another one without, both get the same function.
[[noreturn]] TYER_EXPORT void refuse(const char* words);

}  // namespace detail
}  // namespace v1
}  // namespace tyer
