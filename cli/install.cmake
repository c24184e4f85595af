# Where the command line goes, with its manual pages and what shells complete. All of it OPTIONAL: who has built the
# libraries only may install them.
if(NOT TYER_INSTALL)
  return()
endif()
set(packed_dir ${CMAKE_CURRENT_BINARY_DIR}/man1)
add_custom_command(
  OUTPUT ${packed_dir}/tyer.1.gz
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${packed_dir}
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${man_dir} ${packed_dir}
  COMMAND sh -c "gzip -9n ${packed_dir}/*.1"
  DEPENDS ${man_dir}/tyer.1
  VERBATIM)
add_custom_target(tyer_cli_man ALL DEPENDS ${packed_dir}/tyer.1.gz)
add_dependencies(tyer_cli_man tyer_cli_pages)
add_dependencies(tyer_installable tyer_cli tyer_cli_pages tyer_cli_man)

set(share ${CMAKE_INSTALL_DATADIR})
set(zsh_folder site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(zsh_folder vendor-completions)  # where Debian's zsh looks for what packages bring
endif()
set(optionally COMPONENT tyer_program OPTIONAL)
install(TARGETS tyer_cli ${optionally})
install(DIRECTORY ${packed_dir} DESTINATION ${CMAKE_INSTALL_MANDIR} ${optionally})
install(FILES ${completion_dir}/bash DESTINATION ${share}/bash-completion/completions RENAME tyer ${optionally})
install(FILES ${completion_dir}/zsh DESTINATION ${share}/zsh/${zsh_folder} RENAME _tyer ${optionally})
install(FILES ${completion_dir}/fish DESTINATION ${share}/fish/vendor_completions.d RENAME tyer.fish ${optionally})
