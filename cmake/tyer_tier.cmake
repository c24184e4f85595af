# What a test runs in is said where it is registered, and nowhere else: at every push (the default), or only at night, which
# is the label `night`. ctest alone runs both; tools/check leaves the nightly ones out unless it is given --all.

# tyer_night(TEST...): only at night. After the labels of the test were set.
function(tyer_night)
  foreach(test IN LISTS ARGN)
    set_property(TEST ${test} APPEND PROPERTY LABELS night)
  endforeach()
endfunction()

# tyer_alone(TEST...): beside no other test, and when nothing is built: last, in tools/check. After the labels of the test were set.
function(tyer_alone)
  foreach(test IN LISTS ARGN)
    set_property(TEST ${test} APPEND PROPERTY LABELS alone)
    set_property(TEST ${test} PROPERTY RUN_SERIAL ON)
  endforeach()
endfunction()

# tyer_built_at_night(TARGET...): not before. For programs that only tests of the night need.
function(tyer_built_at_night)
  set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(tyer_night ${ARGN})
endfunction()

# tyer_later_deployments_at_night(NAME KIND...): of the tests NAME.KIND, those whose kind of server comes after another of the
# same family. A question put to many deployments is put to the first of each family at every push.
function(tyer_later_deployments_at_night name)
  set(seen "")
  foreach(kind IN LISTS ARGN)
    string(REGEX REPLACE "(-.*|[0-9]+)$" "" family ${kind})
    if(family MATCHES "^(valkey|sentinel|cluster|redlock)$")
      set(family redis)
    elseif(family STREQUAL "pgbouncer")
      set(family postgres)
    elseif(family STREQUAL "mysql")
      set(family mariadb)
    endif()
    if(family IN_LIST seen)
      tyer_night(${name}.${kind})
    endif()
    list(APPEND seen ${family})
  endforeach()
endfunction()
