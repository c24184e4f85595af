// Marks the symbols that the shared library exports. All others are hidden.
#pragma once

#include <tyer/detail/cxx20.hpp>

#if defined(__GNUC__)
#define TYER_EXPORT [[gnu::visibility("default")]]
#else
#define TYER_EXPORT
#endif
