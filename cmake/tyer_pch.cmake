# Precompiled headers: a third of what compiling costs is reading the same headers again. Of others only (the standard library,
# GoogleTest), so that the walls between rooms stand. TYER_PCH is on where everything is compiled at once (release,
# asan, tsan). It is off in dev and in packages, where a file that forgot an #include is seen.
option(TYER_PCH "Compile with precompiled headers of other projects" OFF)

set(tyer_pch_std <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <deque> <functional> <future> <map>
                 <memory> <mutex> <optional> <set> <span> <sstream> <stop_token> <string> <string_view> <system_error>
                 <thread> <unordered_map> <utility> <variant> <vector>)

# tyer_pch_holder(TARGET): a library without code. It has the headers, for tyer_pch_from of targets with the same flags.
function(tyer_pch_holder target)
  set(source ${CMAKE_BINARY_DIR}/pch/nothing.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${target} OBJECT ${source})
  target_precompile_headers(${target} PRIVATE ${ARGN})
  tyer_pch_cached(${target})
endfunction()

function(tyer_pch_from target holder)
  target_precompile_headers(${target} REUSE_FROM ${holder})
  tyer_pch_cached(${target})
endfunction()

# ccache takes part only if GCC names the precompiled header in what it preprocesses, and if Clang does not write the time of
# day into it.
function(tyer_pch_cached target)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
                                           "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()
