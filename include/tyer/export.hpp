// Marks the symbols that the shared library exports. All others are hidden.
#pragma once

#if defined(__GNUC__)
#define TYER_EXPORT [[gnu::visibility("default")]]
#else
#define TYER_EXPORT
#endif
