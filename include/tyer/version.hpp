// The version of the headers. `tyer::library_version()` is that of the library the program runs with.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/export.hpp>

#include <string_view>

#define TYER_VERSION_MAJOR 0
#define TYER_VERSION_MINOR 1
#define TYER_VERSION_PATCH 0

namespace tyer {
inline namespace v1 {

// As "0.1.0".
TYER_EXPORT std::string_view library_version() noexcept;

}  // namespace v1
}  // namespace tyer
