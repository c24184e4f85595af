# tyer_test(NAME LABEL unit SOURCES ... USES room... [LINKS target...] [ENGINES redis valkey] [ARGS ...] [TIMEOUT s]
#           [COST s] [SANITIZED kind...] [EVERYWHERE | NIGHT] [ALONE] [CALM] [ONE_THREAD])
#
# A GoogleTest program over rooms of the library (their object files are linked in directly, so internals can be tested).
# With ENGINES the program runs once per kind under `tools/engines run KIND`, which sets TYER_URI. Under a sanitizer only
# memory and redis, where the code is ours and the same, and what SANITIZED names: what servers and deployments do, other
# presets ask. COST is about how long it takes: the longest start first, so that two at a time end together. TIMEOUT is for a
# test that hangs, on a machine that is busy with other things: many times COST.
#
# At every push it runs on the first deployment of each family named in ENGINES, with EVERYWHERE on all of them; on the
# others, and with NIGHT on all of them, only at night (tyer_tier.cmake). With ALONE nothing runs beside it. CALM is for a
# test in which no server fails: servers that elect a leader wait longer before they take a busy one for dead. ONE_THREAD is
# for a program that has only one: ThreadSanitizer would have to find an accident there, so it looks only at night.

set(tyer_calm_etcd3 --set election-timeout=2500 --set heartbeat-interval=250)  # no lease is shorter than 1.5 of it
set(tyer_calm_sentinel --set down-after-milliseconds=5000)
set(tyer_calm_cluster --set cluster-node-timeout=10000)

if(COMMAND tyer_test)
  return()
endif()
include(tyer_tier)

# tyer_test_program(TARGET LABEL): sees the library, has GoogleTest, and is quick to compile.
#
# Tests wait for servers, or are done in no time: their own code need not be quick; that of the simulation is. What a
# sanitizer is to look at is the library, and its cost at compile time is four times that of the code itself, so tests of the
# contract, which are large and full of templates, go without UBSan. The others have the public headers in them; they keep it.
function(tyer_test_program target label)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE tyer_flags GTest::gtest GTest::gtest_main)
  if(TYER_SANITIZE MATCHES "undefined" AND TYER_SANITIZE_SLOWLY)
    target_compile_definitions(${target} PRIVATE TYER_TEST_POINTERS_ARE_CHECKED)
  endif()
  if(TYER_PCH)  # everything is compiled at once
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR label STREQUAL "sim")
    return()
  endif()
  set(holder tyer_test_pch)
  set(flags -O0)
  if(TYER_SANITIZE MATCHES "undefined" AND label STREQUAL "contract")
    set(holder tyer_contract_pch)
    list(APPEND flags -fno-sanitize=undefined)
  endif()
  target_compile_options(${target} PRIVATE ${flags})
  if(TYER_PCH)
    if(NOT TARGET ${holder})
      tyer_pch_holder(${holder} <gtest/gtest.h> ${tyer_pch_std})
      target_link_libraries(${holder} PRIVATE tyer_flags GTest::gtest)
      target_compile_options(${holder} PRIVATE ${flags})
    endif()
    tyer_pch_from(${target} ${holder})
  endif()
endfunction()

# What tyer_test was told of every test of the program.
macro(tyer_test_properties test)
  set_tests_properties(${test} PROPERTIES LABELS ${TEST_LABEL} TIMEOUT ${TEST_TIMEOUT} COST ${TEST_COST})
  if(TEST_ALONE)
    tyer_alone(${test})
  endif()
  if(TEST_NIGHT)
    tyer_night(${test})
  endif()
endmacro()

function(tyer_test name)
  cmake_parse_arguments(TEST "EVERYWHERE;NIGHT;ALONE;CALM;ONE_THREAD" "LABEL;TIMEOUT;COST" "SOURCES;USES;LINKS;ENGINES;ARGS;SANITIZED" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  if(NOT TEST_COST)
    set(TEST_COST 1)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  if(TEST_ONE_THREAD AND TYER_SANITIZE MATCHES "thread")
    set(TEST_NIGHT ON)
    tyer_built_at_night(${name})
  endif()
  tyer_test_program(${name} "${TEST_LABEL}")
  target_link_libraries(${name} PRIVATE ${TEST_LINKS})
  foreach(room IN LISTS TEST_USES)
    target_link_libraries(${name} PRIVATE tyer_${room})
  endforeach()
  if(NOT TEST_ENGINES)
    add_test(NAME ${name} COMMAND ${name} ${TEST_ARGS})
    tyer_test_properties(${name})
    return()
  endif()
  if(TYER_SANITIZE)
    string(JOIN "|" kinds memory redis ${TEST_SANITIZED})
    list(FILTER TEST_ENGINES INCLUDE REGEX "^(${kinds})$")
    if(NOT TEST_ENGINES)
      set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
  endif()
  foreach(kind IN LISTS TEST_ENGINES)
    if(kind STREQUAL "memory")
      add_test(NAME ${name}.memory COMMAND ${name} ${TEST_ARGS})
      set_tests_properties(${name}.memory PROPERTIES ENVIRONMENT "TYER_URI=memory://contract")
    else()
      set(settings "")
      if(TEST_CALM)
        string(REGEX REPLACE "-.*" "" family ${kind})
        set(settings ${tyer_calm_${family}})
      endif()
      set(around "")
      if(kind MATCHES "^(postgres|pgbouncer|mariadb|mysql)" AND "sql" IN_LIST TEST_USES)  # as a store of locks
        set(around ${PROJECT_SOURCE_DIR}/tests/contract/with_query schema=apply)
      endif()
      add_test(NAME ${name}.${kind}
               COMMAND ${PROJECT_SOURCE_DIR}/tools/engines run ${kind} ${settings} -- ${around} $<TARGET_FILE:${name}> ${TEST_ARGS})
    endif()
    tyer_test_properties(${name}.${kind})
  endforeach()
  if(NOT TEST_NIGHT AND NOT TEST_EVERYWHERE)
    tyer_later_deployments_at_night(${name} ${TEST_ENGINES})
  endif()
endfunction()
