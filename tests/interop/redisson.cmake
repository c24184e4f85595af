# The versions that docs/engines/redis.md names. What Maven brings stays in the build folder.
set(redisson_newest 4.7.0)
set(redisson_folder ${CMAKE_CURRENT_BINARY_DIR}/redisson)

function(interop_with_redisson name kind version)
  if(NOT TEST interop.redisson_${version}_setup)
    add_test(NAME interop.redisson_${version}_setup
             COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/redisson/prepare ${version} ${redisson_folder})
    set_tests_properties(interop.redisson_${version}_setup PROPERTIES LABELS interop TIMEOUT 300
                         FIXTURES_SETUP redisson_${version} RESOURCE_LOCK maven)
    tyer_night(interop.redisson_${version}_setup)
  endif()
  add_test(NAME interop.${name}
           COMMAND ${PROJECT_SOURCE_DIR}/tools/engines run ${kind} --
                   ${CMAKE_CURRENT_SOURCE_DIR}/redisson_test.py $<TARGET_FILE:interop_peer>
                   ${redisson_folder}/redisson-${version} ${ARGN})
  # Alone: it measures how fast one side wakes the other.
  set_tests_properties(interop.${name} PROPERTIES LABELS interop TIMEOUT 240
                       FIXTURES_REQUIRED redisson_${version})
  tyer_alone(interop.${name})
  tyer_night(interop.${name})
endfunction()

interop_with_redisson(redisson redis ${redisson_newest})
# Others for a shorter time: what they do differently, if anything, is in the commands, not in their order.
interop_with_redisson(redisson_valkey valkey ${redisson_newest} 8)
interop_with_redisson(redisson_before_latches redis 3.16.8 8)
interop_with_redisson(redisson_3 redis 3.52.0 8)
# Where Java shops run it. 3.16.8 announces with PUBLISH in a cluster too, the others with SPUBLISH.
foreach(deployment sentinel cluster cluster-valkey)
  interop_with_redisson(redisson_${deployment} ${deployment} ${redisson_newest} 12)
endforeach()
interop_with_redisson(redisson_cluster_before_shards cluster 3.16.8 8)
