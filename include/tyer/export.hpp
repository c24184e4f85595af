// What the shared library shows to the outside: nothing but what carries this mark.
#pragma once

#if defined(__GNUC__)
#define TYER_EXPORT __attribute__((visibility("default")))
#else
#define TYER_EXPORT
#endif
