// What the shared library shows to the outside: nothing but what carries this mark.
#pragma once

#include <tyer/detail/cxx20.hpp>

#if defined(__GNUC__)
#define TYER_EXPORT [[gnu::visibility("default")]]
#else
#define TYER_EXPORT
#endif
