# What Go's module proxy brings stays in the build folder.
set(etcd_go_folder ${CMAKE_CURRENT_BINARY_DIR}/etcd_go)
add_test(NAME interop.etcd_go_setup COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/etcd_go/prepare ${etcd_go_folder})
set_tests_properties(interop.etcd_go_setup PROPERTIES LABELS interop TIMEOUT 300 FIXTURES_SETUP etcd_go)
tyer_night(interop.etcd_go_setup)

function(interop_with_go name kind)
  add_test(NAME interop.${name}
           COMMAND ${PROJECT_SOURCE_DIR}/tools/engines run ${kind} --
                   ${CMAKE_CURRENT_SOURCE_DIR}/etcd_go_test.py $<TARGET_FILE:interop_peer> ${etcd_go_folder} ${ARGN})
  # Alone: it measures how fast one side wakes the other.
  set_tests_properties(interop.${name} PROPERTIES LABELS interop TIMEOUT 240 FIXTURES_REQUIRED etcd_go)
  tyer_alone(interop.${name})
  tyer_night(interop.${name})
endfunction()

interop_with_go(etcd_go etcd)
interop_with_go(etcd3_go etcd3 10)
