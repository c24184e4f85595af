# tyer_room(NAME SOURCES... USES room... LINKS target...)
#
# A room of the library: one object library. Its sources may include only what the rooms named in USES show: that is the
# wall, and a line a reviewer sees. Objects are position independent with hidden symbols, so one build serves the shared
# library, the static one and the tests.

add_library(tyer_flags INTERFACE)
target_compile_features(tyer_flags INTERFACE cxx_std_20)
target_compile_options(tyer_flags INTERFACE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tyer_flags INTERFACE -Wshadow=local -Wno-restrict)  # GCC 12 sees ghosts in std::string
else()
  # The entry points of the engines are C++ under C names; std::stable_sort of GCC's library uses what that library deprecates.
  target_compile_options(tyer_flags INTERFACE -Wno-return-type-c-linkage -Wno-deprecated-declarations)
endif()
target_include_directories(tyer_flags INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
if(TYER_SANITIZE)
  target_compile_options(tyer_flags INTERFACE -fsanitize=${TYER_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(tyer_flags INTERFACE -fsanitize=${TYER_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(tyer_flags INTERFACE -Wno-maybe-uninitialized)  # it takes the sanitizer's code for ours
  endif()
  if(TYER_SANITIZE MATCHES "undefined")
    target_compile_options(tyer_flags INTERFACE -fno-sanitize-recover=undefined)
    if(NOT TYER_SANITIZE_SLOWLY)
      target_compile_options(tyer_flags INTERFACE -fno-sanitize=null,alignment,vptr)
    endif()
  endif()
  if(TYER_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(tyer_flags INTERFACE -Wno-tsan)  # Asio's fences
  endif()
endif()

include(tyer_pch)
include(tyer_unity)
find_program(TYER_CCACHE ccache)
if(TYER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the checkout, so that another clone finds what this one has compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1)
  if(TYER_PCH)
    list(APPEND CMAKE_CXX_COMPILER_LAUNCHER CCACHE_SLOPPINESS=pch_defines,time_macros)
  endif()
  list(APPEND CMAKE_CXX_COMPILER_LAUNCHER ${TYER_CCACHE})
endif()

function(tyer_room_flags target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                             VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${target} PUBLIC tyer_flags Threads::Threads)
endfunction()
if(TYER_PCH)
  tyer_pch_holder(tyer_room_pch ${tyer_pch_std})
  tyer_room_flags(tyer_room_pch)
endif()

function(tyer_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES;LINKS" ${ARGN})
  add_library(tyer_${name} OBJECT ${ROOM_SOURCES})
  tyer_room_flags(tyer_${name})
  target_link_libraries(tyer_${name} PUBLIC ${ROOM_LINKS})
  if(TYER_PCH)
    tyer_pch_from(tyer_${name} tyer_room_pch)
  endif()

  # A room sees itself and the rooms it uses, by a folder of links and nothing else: #include "lease/acquire.hpp" finds
  # the file only if lease is named in USES. In the whole build's folder, so that ccache sees the same path in a project
  # that has Tyer inside it.
  set(view ${CMAKE_BINARY_DIR}/rooms/${name})
  file(REMOVE_RECURSE ${view})
  foreach(room IN LISTS name ROOM_USES)
    get_property(path GLOBAL PROPERTY tyer_room_path_${room})
    if(room STREQUAL name)
      file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
      set_property(GLOBAL PROPERTY tyer_room_path_${name} ${path})
    endif()
    if(NOT path)
      message(FATAL_ERROR "room ${name} uses ${room}, which is not above it")
    endif()
    get_filename_component(folder ${view}/${path} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${path} ${view}/${path} SYMBOLIC)
  endforeach()
  target_include_directories(tyer_${name} PRIVATE ${view})
endfunction()
