# What the registries of the other languages bring stays in the build folder.
function(interop_on_zookeeper name side kind)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${side})
  if(NOT TEST interop.${side}_setup)
    add_test(NAME interop.${side}_setup COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${side}/prepare ${folder})
    set_tests_properties(interop.${side}_setup PROPERTIES LABELS interop TIMEOUT 300 FIXTURES_SETUP ${side} RESOURCE_LOCK maven)
    tyer_night(interop.${side}_setup)
  endif()
  add_test(NAME interop.${name}
           COMMAND ${PROJECT_SOURCE_DIR}/tools/engines run ${kind} --
                   ${CMAKE_CURRENT_SOURCE_DIR}/zookeeper_test.py $<TARGET_FILE:interop_peer> ${folder} ${ARGN})
  # Alone: it measures how fast one side wakes the other.
  set_tests_properties(interop.${name} PROPERTIES LABELS interop TIMEOUT 300 FIXTURES_REQUIRED ${side})
  tyer_alone(interop.${name})
  tyer_night(interop.${name})
endfunction()

interop_on_zookeeper(curator curator zk)
interop_on_zookeeper(kazoo kazoo zk)
interop_on_zookeeper(zk_go zk_go zk)
interop_on_zookeeper(curator_zk3 curator zk3 10)
interop_on_zookeeper(kazoo_zk3 kazoo zk3 10)
