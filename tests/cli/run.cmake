# `tyer run`, `try` and `elect`, and the programs that bear witness in their tests.

add_executable(cli_loss_witness loss_witness.cpp)
add_executable(cli_once_per_job once_per_job.cpp)
add_executable(cli_loss_contender loss_contender.cpp)
target_link_libraries(cli_loss_contender PRIVATE tyer::tyer)
foreach(component IN LISTS TYER_COMPONENTS)
  target_link_libraries(cli_loss_contender PRIVATE tyer::${component})
endforeach()
foreach(program cli_loss_witness cli_once_per_job cli_loss_contender)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${program} PRIVATE tyer_flags)
endforeach()

cli_test(run ENGINES ${kinds} COST 30)
cli_test(run_terminal ENGINES ${kinds} COST 25)
cli_test(run_shown ENGINES ${kinds} COST 15)
cli_test(run_cron ENGINES ${kinds} COST 10)
cli_test(elect ENGINES ${kinds} COST 20)
cli_test(once_per ENGINES ${kinds} TIMEOUT 240 COST 130)
cli_test(loss TIMEOUT 240 COST 90)
string(JOIN "," comma_kinds ${kinds})
set_property(TEST cli_loss APPEND PROPERTY ENVIRONMENT "TYER_KINDS=${comma_kinds}" TYER_WITNESS=$<TARGET_FILE:cli_loss_witness>
                                                       TYER_CONTENDER=$<TARGET_FILE:cli_loss_contender>)
foreach(kind IN LISTS kinds)
  set_property(TEST cli_once_per.${kind} APPEND PROPERTY ENVIRONMENT TYER_JOB=$<TARGET_FILE:cli_once_per_job>)
  # At night, and so cli_loss: minutes of killing, judged by what processes note that a busy machine lets run too late. That a
  # command is ended when its lock is lost, and that a period is kept, cli_run asks at every push.
  tyer_alone(cli_once_per.${kind})
  tyer_night(cli_once_per.${kind})
endforeach()
tyer_alone(cli_loss)
tyer_night(cli_loss)
# A lock that outlives the client who took it is each deployment's own affair.
foreach(kind IN LISTS deployments)
  add_test(NAME cli_run_once.${kind} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_test.py OncePer)
  set_tests_properties(cli_run_once.${kind} PROPERTIES LABELS cli TIMEOUT 120 COST 15
                       ENVIRONMENT "TYER=$<TARGET_FILE:tyer_cli>;TYER_KIND=${kind}")
  tyer_night(cli_run_once.${kind})
endforeach()
