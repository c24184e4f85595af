// Which sanitizer looks at this program, whatever the compiler.
#pragma once

namespace tyer::test {

#if defined(__has_feature)
#define TYER_TEST_HAS_FEATURE(x) __has_feature(x)
#else
#define TYER_TEST_HAS_FEATURE(x) 0
#endif

#if defined(__SANITIZE_THREAD__) || TYER_TEST_HAS_FEATURE(thread_sanitizer)
inline constexpr bool under_tsan = true;
#else
inline constexpr bool under_tsan = false;
#endif

#if defined(__SANITIZE_ADDRESS__) || TYER_TEST_HAS_FEATURE(address_sanitizer)
inline constexpr bool under_asan = true;
#else
inline constexpr bool under_asan = false;
#endif

#undef TYER_TEST_HAS_FEATURE

// UBSan looks at every pointer (TYER_SANITIZE_SLOWLY). It needs a descriptor for that, and takes an object for invalid when it
// gets none.
#if defined(TYER_TEST_POINTERS_ARE_CHECKED)
inline constexpr bool under_pointer_checks = true;
#else
inline constexpr bool under_pointer_checks = false;
#endif

}  // namespace tyer::test
