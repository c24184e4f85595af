# Where the command line goes, with its manual pages and what shells complete: all made by the program itself, from the
# text of --help.
if(NOT TYER_INSTALL)
  return()
endif()
set(made ${CMAKE_CURRENT_BINARY_DIR}/share)
file(MAKE_DIRECTORY ${made})
add_custom_command(
  OUTPUT ${made}/made
  COMMAND ${CMAKE_COMMAND} -E rm -rf man1
  COMMAND tyer_cli man --all man1
  COMMAND sh -c "gzip -9n man1/*.1"
  COMMAND tyer_cli completions bash > tyer
  COMMAND tyer_cli completions zsh > _tyer
  COMMAND tyer_cli completions fish > tyer.fish
  COMMAND ${CMAKE_COMMAND} -E touch made
  WORKING_DIRECTORY ${made}
  DEPENDS tyer_cli
  VERBATIM)
add_custom_target(tyer_cli_share ALL DEPENDS ${made}/made)
add_dependencies(tyer_installable tyer_cli tyer_cli_share)

install(TARGETS tyer_cli COMPONENT tyer_program)
install(DIRECTORY ${made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tyer_program)
install(FILES ${made}/tyer DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tyer_program)
install(FILES ${made}/_tyer DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT tyer_program)
install(FILES ${made}/tyer.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tyer_program)
