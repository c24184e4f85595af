# tyer_test(NAME LABEL unit SOURCES ... USES room... [LINKS target...] [ENGINES redis valkey] [ARGS ...] [TIMEOUT s])
#
# A GoogleTest program over rooms of the house (their object files are linked in directly, so internals can be tested).
# With ENGINES the program runs once per kind under `tools/engines run KIND`, which sets TYER_URI.

if(COMMAND tyer_test)
  return()
endif()

function(tyer_test name)
  cmake_parse_arguments(TEST "" "LABEL;TIMEOUT" "SOURCES;USES;LINKS;ENGINES;ARGS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 120)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE tyer_flags GTest::gtest GTest::gtest_main ${TEST_LINKS})
  foreach(room IN LISTS TEST_USES)
    target_link_libraries(${name} PRIVATE tyer_${room})
  endforeach()
  if(TEST_ENGINES)
    if(TYER_SANITIZE)
      list(REMOVE_ITEM TEST_ENGINES valkey redlock-valkey)  # the same code runs against redis; what the servers differ in, other presets ask
    endif()
    foreach(kind IN LISTS TEST_ENGINES)
      if(kind STREQUAL "memory")
        add_test(NAME ${name}.memory COMMAND ${name} ${TEST_ARGS})
        set_tests_properties(${name}.memory PROPERTIES ENVIRONMENT "TYER_URI=memory://contract")
      else()
        add_test(NAME ${name}.${kind}
                 COMMAND ${PROJECT_SOURCE_DIR}/tools/engines run ${kind} -- $<TARGET_FILE:${name}> ${TEST_ARGS})
      endif()
      set_tests_properties(${name}.${kind} PROPERTIES LABELS ${TEST_LABEL} TIMEOUT ${TEST_TIMEOUT})
    endforeach()
  else()
    add_test(NAME ${name} COMMAND ${name} ${TEST_ARGS})
    set_tests_properties(${name} PROPERTIES LABELS ${TEST_LABEL} TIMEOUT ${TEST_TIMEOUT})
  endif()
endfunction()
