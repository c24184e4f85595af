// Says it once, instead of hundreds of errors from the headers behind it. Included first by every public header.
#pragma once

#if __cplusplus < 202002L
#error "Tyer needs C++20: compile with -std=c++20 (in CMake: target_compile_features(your_target PRIVATE cxx_std_20))"
#include <tyer/needs/c++20>  // there is no such file: compilers stop here
#endif
