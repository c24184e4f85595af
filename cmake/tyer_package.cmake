# Debian packages, by CPack: libtyerN (the shared libraries), libtyer-dev (what a program is built with) and tyer (the
# command line). tools/package calls it with the settings that packages need; docs/packages.md says what is in them.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tyer)
set(CPACK_PACKAGE_VENDOR "The Tyer authors")
set(TYER_MAINTAINER "The Tyer authors <maintainers@tyer.invalid>" CACHE STRING "Who makes packages, for their papers")
set(CPACK_PACKAGE_CONTACT ${TYER_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "distributed locks for C++20")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE tyer)
set(TYER_DEB_REVISION 1 CACHE STRING "What the version of a Debian package ends in")
set(CPACK_DEBIAN_PACKAGE_RELEASE ${TYER_DEB_REVISION})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Our own libraries are not installed where the packages are made.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(TYER_DEB_VERSION ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(runtime_package libtyer${TYER_SOVERSION})

string(CONCAT what "Locks that processes on several machines share, kept in Redis, Valkey or\n"
                   "etcd. Every hold has a fencing token and a deadline that can be trusted,\n"
                   "and says when it is lost.")

# tyer_deb(component PACKAGE name SECTION section TEXT "...")
set(CPACK_COMPONENTS_ALL "")
macro(tyer_deb component)
  cmake_parse_arguments(D "" "PACKAGE;SECTION;TEXT" "" ${ARGN})
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} D_KEY)
  set(CPACK_DEBIAN_${D_KEY}_PACKAGE_NAME ${D_PACKAGE})
  set(CPACK_DEBIAN_${D_KEY}_PACKAGE_SECTION ${D_SECTION})
  set(CPACK_DEBIAN_${D_KEY}_DESCRIPTION "${what}\n.\n${D_TEXT}")
  install(FILES ${PROJECT_BINARY_DIR}/debian/copyright ${PROJECT_BINARY_DIR}/debian/changelog.Debian.gz
          DESTINATION share/doc/${D_PACKAGE} COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

tyer_deb(tyer_runtime PACKAGE ${runtime_package} SECTION libs
         TEXT "These are the libraries that programs run with.")
set(CPACK_DEBIAN_TYER_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)

tyer_deb(tyer_development PACKAGE libtyer-dev SECTION libdevel
         TEXT "These are the headers, with files for CMake and pkg-config. No other\nlibrary's headers are needed.")
set(CPACK_DEBIAN_TYER_DEVELOPMENT_PACKAGE_DEPENDS "${runtime_package} (= ${TYER_DEB_VERSION})")

if(TYER_CLI)
  tyer_deb(tyer_program PACKAGE tyer SECTION utils
           TEXT "This is tyer, which runs commands under a lock, shows who holds and\nwaits for what, and finds trouble.")
  set(CPACK_DEBIAN_TYER_PROGRAM_PACKAGE_DEPENDS "${runtime_package} (= ${TYER_DEB_VERSION})")
endif()

# The papers of a Debian package. SOURCE_DATE_EPOCH is the time that they have; tools/package sets it.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${PROJECT_SOURCE_DIR}/cmake/debian/copyright ${PROJECT_BINARY_DIR}/debian/copyright COPYONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/debian/changelog.in ${PROJECT_BINARY_DIR}/debian/changelog.Debian @ONLY)
execute_process(COMMAND gzip -9nkf changelog.Debian WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/debian
                COMMAND_ERROR_IS_FATAL ANY)

include(CPack)
