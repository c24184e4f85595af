# Where the command line goes, with its manual pages and what shells complete. All of it OPTIONAL: who has built the
# libraries only may install them.
if(NOT TYER_INSTALL)
  return()
endif()
set(packed_dir ${CMAKE_CURRENT_BINARY_DIR}/man1)
add_custom_command(TARGET tyer_cli POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${packed_dir}
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${man_dir} ${packed_dir}
  COMMAND sh -c "gzip -9n ${packed_dir}/*.1"
  VERBATIM)
add_dependencies(tyer_installable tyer_cli)

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
